import { afterAll, beforeAll, expect, test } from 'vitest';
import { naming } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({
    graphs: {
      echo: 'examples/echo/graph.ts:graph',
      interrupting: 'test/fixtures/graphs/interrupting.ts:graph',
    },
    env: { LANGGRAPH_WEBHOOKS: '{"url": {"disable_loopback": false}}' },
    api_keys: ['the-key'],
  });
});

afterAll(() => server?.[Symbol.asyncDispose]());

const explain = (...args: string[]) =>
  agentServer(['explain', ...args, '--url', server.url, '--key', 'the-key']);

async function interruptedThread() {
  const { client } = server;
  const { thread_id } = await client.threads.create();
  await client.runs.wait(thread_id, 'interrupting', { input: { x: 1 } });
  const [run] = await client.runs.list(thread_id);
  return { thread_id, run_id: run?.run_id as string };
}

test('a run and its thread are explained by their ids', async () => {
  const { thread_id, run_id } = await interruptedThread();

  const [ofRun, ofThread] = [await explain(run_id), await explain(thread_id)];
  expect(ofRun).toMatchObject({ code: 0, stderr: '' });
  expect(ofRun.stdout).toMatch(
    new RegExp(`^run ${run_id}: success\nEnded at .* with status success\\.\n  run_id +${run_id}\n`),
  );
  expect(ofThread.stdout).toMatch(
    new RegExp(`^thread ${thread_id}: interrupted\nInterrupted: .*\n  thread_id +${thread_id}\n`),
  );
  expect(ofThread.stdout).toMatch(/\n {2}interrupts +id=\S+ value=.* task_id=\S+\n/);
});

test('a cron is explained by its id', async () => {
  const created = await server.client.crons.create('echo', { schedule: '0 8 * * *', input: {} });
  const { code, stdout } = await explain((created as unknown as { cron_id: string }).cron_id);

  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^cron [\da-f-]{36}: scheduled\nFires next at \S+ \(schedule "0 8 \* \* \*", UTC\)\. /,
  );
});

test('a delivery is explained by its id', async () => {
  const headers = { 'x-api-key': 'the-key', 'content-type': 'application/json' };
  const body = JSON.stringify({ url: 'http://127.0.0.1:9/' });
  const tested = await fetch(`${server.url}/webhooks/test`, { method: 'POST', headers, body });
  const { delivery_id } = (await tested.json()) as { delivery_id: string };
  const { code, stdout } = await explain(delivery_id);

  expect(code).toBe(0);
  expect(stdout).toMatch(/^delivery [\da-f-]{36}: dead\n.* 1 attempt/);
});

test('explain --json prints JSON', async () => {
  const { thread_id } = await interruptedThread();
  const { code, stdout } = await explain(thread_id, '--json');

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'thread', thread_id, status: 'interrupted', n_runs: 0 });
});

test('explain of an unknown id exits with 1 and names the id', async () => {
  const id = crypto.randomUUID();
  expect(await explain(id)).toEqual({
    code: 1,
    stdout: '',
    stderr: naming(`agent-server: ${server.url}`, id),
  });
});

test.each([
  [['mine'], 2, /explain: <id> must be the id of a run, a thread, .*, such as 0.*; got "mine"/],
  [[], 2, /explain: <id> is required: the id of a run/],
])('explain %j fails as wrong usage', async (args, code, why) => {
  expect(await explain(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(why) });
});

test('explain without a key reports that the server needs one', async () => {
  const id = crypto.randomUUID();
  const { code, stderr } = await agentServer(['explain', id, '--url', server.url]);
  expect(code).toBe(1);
  expect(stderr).toEqual(naming('agent-server: ', 'API key'));
});
