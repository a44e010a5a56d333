import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { naming } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';
import { startServer, type TestServer } from '../support/server.ts';

const ORDER = 'Email ana@example.com about lunch saying See you at noon.';

let server: TestServer;
let outbox: string;

beforeAll(async () => {
  outbox = await mkdtemp(join(tmpdir(), 'outbox-'));
  server = await startServer({
    graphs: {
      assistant: 'examples/assistant/graph.ts:graph',
      research: 'examples/research/graph.ts:graph',
      echo: 'examples/echo/graph.ts:graph',
      fails: 'test/fixtures/graphs/fails.ts:graph',
      interrupting: 'test/fixtures/graphs/interrupting.ts:graph',
    },
    env: { OUTBOX: outbox, OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
  });
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await rm(outbox, { recursive: true, force: true });
});

const ask = (args: string[], input = '') => agentServer(['ask', ...args, '--url', server.url], { input });
const threadIn = (stderr: string) => /--thread ([\da-f-]{36})/.exec(stderr)?.[1] as string;

test('ask prints the answer to stdout, tool calls and the thread to stderr', async () => {
  const { code, stdout, stderr } = await ask(['assistant', 'When is the shop open on Saturday?']);

  expect(code).toBe(0);
  expect(stdout).toMatch(/^.+\nopening-hours\.md [\s\S]*Monday\.\n/);
  expect(stderr).toMatch(/^· search_notes {"query":"When is[^\n]*}\nthread [\da-f-]{36}: continue with/);
});

test('ask --thread continues a conversation', async () => {
  const first = await ask(['echo', 'one']);
  const second = await ask(['echo', 'two', '--thread', threadIn(first.stderr)]);

  expect([first.stdout, second.stdout]).toEqual(['one\n', 'two\n']);
  const { values } = await server.client.threads.getState(threadIn(first.stderr));
  expect(values).toMatchObject({ count: 2 });
});

test('ask puts a text into the field that takes text, sends an object as the whole input, and prints output without messages', async () => {
  const text = await ask(['research', 'ventilation']);
  const object = await ask(['research', '{"question": "ventilation"}']);

  for (const { stdout } of [text, object])
    expect(JSON.parse(stdout)).toMatchObject({ report: expect.stringMatching(/^# ventilation\n/) });
});

test.each([
  ['approve\n', 1, /in the outbox/],
  [
    'nonsense\n\nedit\n{"to":"bob@example.com","subject":"x","body":"y"}\napprove\n',
    1,
    /to bob@example\.com is in/,
  ],
  ['reject\nLunch is off.\n', 0, /Lunch is off\./],
])('input %j at the prompt answers the question of an agent', async (input, mails, answer) => {
  const before = (await readdir(outbox)).length;
  const { code, stdout, stderr } = await ask(['assistant', ORDER], input);

  expect(code).toBe(0);
  expect(stderr).toMatch(/May I call send_email[\s\S]*approve, edit, reject\?/);
  expect(stdout).toMatch(answer);
  expect(await readdir(outbox)).toHaveLength(before + mails);
});

test('ask without an answer leaves the run waiting, and the next call can answer', async () => {
  const asked = await ask(['assistant', ORDER]);
  expect(asked).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/\? \n.*--thread [\da-f-]{36} --url http/),
  });

  const again = await ask(['assistant', '--thread', threadIn(asked.stderr)], 'approve\n');
  expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/in the outbox/) });
});

test('ask with a text on an interrupted thread answers the interrupt', async () => {
  const asked = await ask(['interrupting', '{"x": 1}']);
  const { stdout } = await ask(['interrupting', 'fine', '--thread', threadIn(asked.stderr)]);

  expect(JSON.parse(stdout).log).toEqual(['a:1', 'b:"fine"']);
});

test('the prompt of ask accepts JSON as an answer, including null', async () => {
  const { stdout } = await ask(['interrupting', '{"x": 1}'], 'null\n');

  expect(JSON.parse(stdout).log).toEqual(['a:1', 'b:null']);
});

test('ask for an unknown assistant leaves no thread behind', async () => {
  const before = await server.client.threads.count();
  const { stderr } = await ask(['nosuch', 'hello']);

  expect(stderr).toContain('echo');
  await ask([crypto.randomUUID(), 'hello']);
  expect(await server.client.threads.count()).toBe(before);
});

test('ask prints the error of a failed run and exits with 1', async () => {
  const { code, stderr } = await ask(['fails', '{}']);

  expect(code).toBe(1);
  expect(stderr).toMatch(/^the run failed: \w+: /m);
});

test.each([
  [['nosuch', 'hello'], 1, /rejected the request with 4\d\d: .*nosuch/],
  [['assistant'], 2, /a message is required/],
  [[], 2, /<assistant> is required: the name of a graph/],
  [['assistant', 'x', '--thread', 'mine'], 2, /--thread must be the id of a thread/],
])('ask %j fails with one line', async (args, code, why) => {
  const refused = await ask(args);
  expect(refused).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(why) });
  expect(refused.stderr.trim().split('\n')).toHaveLength(1);
});

test('ask without a running server says how to start or name one', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { a: ./a.ts:graph }\nserver: { port: 9 }\n',
  });
  const { code, stderr } = await agentServer(['ask', 'a', 'hello'], { cwd: folder.root });

  expect(code).toBe(1);
  expect(stderr).toEqual(naming('agent-server: ', 'http://127.0.0.1:9', 'agent-server dev'));
});

test('ask sends the API key of the configuration', async () => {
  await using guarded = await startServer({
    graphs: { echo: 'examples/echo/graph.ts:graph' },
    api_keys: ['first-key'],
  });
  const { port } = new URL(guarded.url);
  await using folder = await project({
    'agent.config.yaml': `graphs: { a: ./a.ts:graph }\nserver: { port: ${port}, api_keys: [first-key] }\n`,
  });

  expect(await agentServer(['ask', 'echo', 'hi'], { cwd: folder.root })).toMatchObject({
    code: 0,
    stdout: 'hi\n',
  });
  // By its address, too; any other server has no business with it.
  const named = ['ask', 'echo', 'hi', '--url', `${guarded.url}/`];
  expect(await agentServer(named, { cwd: folder.root })).toMatchObject({ code: 0 });
  const elsewhere = ['ask', 'echo', 'hi', '--url', `http://localhost:${port}`];
  expect(await agentServer(elsewhere, { cwd: folder.root })).toMatchObject({ code: 1 });
  const without = await agentServer(['ask', 'echo', 'hi', '--url', guarded.url]);
  expect(without).toMatchObject({
    code: 1,
    stderr: naming('API key'),
  });
});
