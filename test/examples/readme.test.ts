import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { python } from '../support/python.ts';
import { blocksOf, callsOf, inProgram, inShell, NODE, type Outcome, ROOT } from './blocks.ts';
import { folderWith } from './inside-repository.ts';
import { type Started, started } from './started.ts';

const README = blocksOf('README.md');

let server: Started;
let outcomes: Outcome[];

beforeAll(async () => {
  server = await started('npm start');
  outcomes = await inShell(callsOf('README.md'), server.url);
});

afterAll(() => server[Symbol.asyncDispose]());

function only(language: string, pattern: RegExp): string {
  const found = README.filter((block) => block.language === language && pattern.test(block.text));
  expect(found).toHaveLength(1);
  return found[0]!.text;
}

test('every call of the README succeeds', () => {
  expect(outcomes.map(({ complaints }) => complaints).filter(Boolean)).toEqual([]);
  expect(outcomes.flatMap(({ statuses }) => statuses).filter((status) => status >= 300)).toEqual([]);
});

test.each([
  [
    'the first call streams the answer',
    0,
    [/^event: metadata\r$/m, /^event: messages\r$/m, /opening-hours\.md/],
  ],
  ['waiting: the state grows', 2, [/"count":1\b[\s\S]*"count":2\b/, /"next":\[\]/]],
  ['streaming: updates and values', 3, [/^event: updates\r$/m, /^event: values\r$/m, /"count":3/]],
  ['in the background: joined', 4, [/"status":"(pending|running|success)"/, /"count":4/]],
  ['without a thread', 5, [/"report":"# Compare heat pumps/, /solar-panels\.md/]],
  ['a person is asked and answers', 6, [/"__interrupt__":/, /"tool":"send_email"/, /in the outbox/]],
  ['a run is cancelled', 7, [/"status":"interrupted"/]],
  ['a cron is made and triggered', 9, [/"tick":null[^}]*"outcome":"started"/]],
  ['an agent for A2A clients', 10, [/"supportedInterfaces":/, /"state":"TASK_STATE_COMPLETED"[\s\S]*Sunday/]],
] as const)('%s', (_, index, patterns) => {
  for (const pattern of patterns) expect(outcomes[index]?.output).toMatch(pattern);
});

test('a stream that is taken up again starts after the last event', () => {
  const ids = [...outcomes[3]!.output.matchAll(/^id: (\d+)\r$/gm)].map((match) => Number(match[1]));
  const last = Math.max(...ids);

  expect(last).toBeGreaterThan(3);
  expect(ids).toEqual([...range(1, last), ...range(3, last)]);
});

test('the approved e-mail lies in the outbox, as it was changed', async () => {
  const mails = await readdir(server.outbox);
  expect(mails.length).toBeGreaterThan(0);
  expect(await readFile(join(server.outbox, mails[0]!), 'utf8')).toMatch(
    /^To: ana@example\.com\nSubject: Lunch today\n/,
  );
});

test('the JavaScript client', async () => {
  const output = await inProgram(NODE, ['--input-type=module'], only('js', /new Client\(/), server.url);

  expect(output).toMatch(/time-off\.md says under "Time off: Carry-over"/);
  expect(output).toMatch(/The thread holds 4 messages\.$/m);
});

test('the A2A client', async () => {
  const output = await inProgram(NODE, ['--input-type=module'], only('js', /a2a-js/), server.url);

  expect(output).toMatch(/Sunday/);
});

test('RemoteGraph', async () => {
  const output = await inProgram(NODE, ['--input-type=module'], only('js', /RemoteGraph/), server.url);

  expect(output).toMatch(/^# ventilation\n\n## ventilation\n/);
});

test.runIf(python)('the Python client', async () => {
  const output = await inProgram(python ?? '', ['-'], only('python', /get_client/), server.url);

  expect(output).toMatch(/'tool': 'send_email'/);
  expect(output).toMatch(/^updates .*in the outbox/m);
});

test.each([/^npm start -- --config/, /^npm run dev/])(
  'a project of your own, served by %s',
  async (command) => {
    await using own = await folderWith({
      'agent.config.yaml': only('yaml', /greeter/),
      'greeter.ts': only('ts', /greeter/),
    });
    const lines = only('sh', /my-project\/agent/).split('\n');
    const line = lines.find((each) => command.test(each)) ?? '';
    await using server = await started(line.replace('../my-project', own.root));

    expect(await greet(server.url)).toMatchObject({ greeting: 'Hello Ana!' });
  },
);

test('the commands of the command line that end by themselves', async () => {
  const page = await readFile(join(ROOT, 'README.md'), 'utf8');
  const commands = [...page.matchAll(/^\| `(npx agent-server \w+)` \|/gm)].map((match) => match[1] as string);
  expect(commands).toHaveLength(3);

  for (const command of commands) {
    expect(await inProgram('bash', ['-s'], command, '')).not.toBe('');
    expect(await inProgram('bash', ['-s'], `${command} --help`, '')).toMatch(/^Usage: agent-server/);
  }
});

test('with keys, only who sends one is served', async () => {
  const command = only('sh', /^AGENT_SERVER_API_KEYS=/);
  await using guarded = await started(command);
  const info = (headers: Record<string, string>) => fetch(`${guarded.url}/info`, { headers });

  expect((await info({})).status).toBe(401);
  expect((await info({ 'x-api-key': 'third-key' })).status).toBe(401);
  expect((await info({ 'x-api-key': 'second-key' })).status).toBe(200);
});

async function greet(url: string): Promise<unknown> {
  const response = await fetch(`${url}/runs/wait`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'greeter', input: { name: 'Ana' } }),
  });
  return response.json();
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
