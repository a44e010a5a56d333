import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunLogLine } from '../../src/schemas/run-logs.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const SECRET = 'a-secret-of-the-environment';

let server: TestServer;
let folder: string;

beforeAll(async () => {
  folder = await makeDataFolder();
  server = await startServer({ env: { LOG_LEVEL: 'debug', NODE_MODEL_API_KEY: SECRET } });
});

afterAll(() => server[Symbol.asyncDispose]());

async function begin(input: Record<string, unknown>) {
  const { thread_id } = await server.client.threads.create();
  const run = await server.client.runs.create(thread_id, 'prints', { input });
  return { ...run, join: () => server.client.runs.join(thread_id, run.run_id) };
}

async function ended(input: Record<string, unknown>) {
  const run = await begin(input);
  await run.join();
  return run;
}

async function logsOf(run_id: string, query = ''): Promise<RunLogLine[]> {
  const answer = await fetch(`${server.url}/runs/${run_id}/logs${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as RunLogLine[];
}

const logged = (run_id: string) =>
  server.log.filter((entry) => entry['run_id'] === run_id && entry['source'] !== undefined);
const messages = (lines: readonly { message: string }[]) => lines.map(({ message }) => message);

test('console output of a graph has its level, run, node and line of code, in the log and in the lines of the run', async () => {
  const run = await ended({ what: 'each_method' });
  await until('the lines are logged', () => logged(run.run_id).length === 5);

  const expected = [
    ['debug', 'a debug line'],
    ['info', "a log line { of: { a: 'node' } }"],
    ['info', 'an info line'],
    ['warn', 'a warn line'],
    ['error', 'an error line'],
  ];
  expect(logged(run.run_id).map(({ level, message }) => [level, message])).toEqual(expected);
  for (const entry of logged(run.run_id)) {
    expect(entry).toMatchObject({
      thread_id: run.thread_id,
      assistant_id: run.assistant_id,
      graph: 'prints',
      attempt: 1,
      trace_id: run.run_id.replaceAll('-', ''),
      node: 'print',
      at: expect.stringMatching(/\/test\/fixtures\/graphs\/prints\.ts:\d+:\d+$/),
      source: 'console',
    });
  }

  const lines = await logsOf(run.run_id);
  expect(lines.map(({ level, message }) => [level, message])).toEqual(expected);
  expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect(lines[0]).toEqual({
    seq: 1,
    time: expect.stringMatching(/^\d{4}-/),
    level: 'debug',
    message: 'a debug line',
    node: 'print',
    at: expect.stringMatching(/^prints\.ts:18:\d+$/),
    attempt: 1,
  });
});

test('output of a graph to stdout and stderr is split into lines', async () => {
  const run = await ended({ what: 'streams' });

  const lines = await logsOf(run.run_id);
  expect(lines.map(({ level, message, node }) => [level, message, node])).toEqual([
    ['info', 'half a line, and the rest', 'print'],
    ['warn', 'to stderr', 'print'],
    ['info', 'no line break', 'print'],
  ]);
});

test('secrets in the output of a graph are neither logged nor stored', async () => {
  const run = await ended({ what: 'secrets' });
  await until('the lines are logged', () => logged(run.run_id).length === 2);

  const expected = ['Authorization: Bearer *** and ***', "{ key: 'sk-***' }"];
  expect(messages(await logsOf(run.run_id))).toEqual(expected);
  expect(messages(logged(run.run_id))).toEqual(expected);
});

test('printed characters that a database cannot store are replaced', async () => {
  const run = await ended({ what: 'odd' });

  const [line] = await logsOf(run.run_id);
  expect(line?.message.replaceAll('\u001b', 'ESC')).toMatch(/^nul ., half ., ESC\[31mredESC\[0m$/);
});

test('a long printed line is truncated with a note', async () => {
  const run = await ended({ what: 'long' });

  const [line] = await logsOf(run.run_id);
  expect(line?.message).toMatch(/^x{8000,}… \(cut, [\d,]+ characters in all\)$/);
});

test('output of a timer belongs to the node that started it', async () => {
  const run = await ended({ what: 'later' });

  expect(await logsOf(run.run_id)).toMatchObject([{ message: 'from a timer', node: 'print' }]);
});

test('a logged error is stored with the stack of the failing code', async () => {
  const run = await begin({ what: 'fails' });
  await run.join().catch(() => {});

  const lines = await logsOf(run.run_id);
  expect(lines).toMatchObject([
    { level: 'info', message: 'before the failure' },
    {
      level: 'error',
      message: expect.stringMatching(/^run failed: Error: the node fails\n +at .*prints\.ts:\d+:\d+/),
    },
  ]);
  expect(lines[1]?.message).not.toContain(import.meta.dirname.replace(/\/http$/, ''));
});

test('a run without output has no lines', async () => {
  const run = await ended({ what: 'nothing' });

  expect(await logsOf(run.run_id)).toEqual([]);
});

test('the lines of a run are read in pages: the newest, or those after a line', async () => {
  const run = await ended({ what: 'each_method' });
  const seqs = async (query: string) => (await logsOf(run.run_id, query)).map(({ seq }) => seq);

  expect(await seqs('?limit=2')).toEqual([4, 5]);
  expect(await seqs('?after=0&limit=2')).toEqual([1, 2]);
  expect(await seqs('?after=2')).toEqual([3, 4, 5]);
  expect(await seqs('?after=5')).toEqual([]);
});

test('a follower gets the lines of a run while it executes, until it ends', async () => {
  const gate = join(folder, 'follow');
  const run = await begin({ what: 'each_method', gate });
  const answer = await fetch(`${server.url}/threads/${run.thread_id}/runs/${run.run_id}/logs`, {
    headers: { accept: 'text/event-stream' },
  });
  let text = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('an error line')) writeFileSync(gate, '');
  }

  expect([...text.matchAll(/^event: (\w+)/gm)].map(([, name]) => name)).toEqual([
    ...Array.from({ length: 6 }, () => 'log'),
    'end',
  ]);
  expect(text).toContain('"message":"after the gate"');

  const again = await fetch(`${server.url}/runs/${run.run_id}/logs?stream=1`, {
    headers: { 'last-event-id': '4' },
  });
  expect((await again.text()).match(/^id: \d+/gm)).toEqual(['id: 5', 'id: 6', 'id: 6']);
});

test('a follower gets the last lines of a stateless run, although they are deleted at its end', async () => {
  const gate = join(folder, 'stateless');
  const client = server.client.runs;
  const run = await client.create(null, 'prints', { input: { what: 'each_method', gate } });
  const answer = await fetch(`${server.url}/runs/${run.run_id}/logs?stream=1`);
  let text = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('an error line')) writeFileSync(gate, '');
  }

  expect(text.match(/^id: \d+/gm)).toEqual(['id: 1', 'id: 2', 'id: 3', 'id: 4', 'id: 5', 'id: 6', 'id: 6']);
  expect(text).toContain('"message":"after the gate"');
  expect((await fetch(`${server.url}/runs/${run.run_id}/logs`)).status).toBe(404);
});

test('for a run that prints in a loop, the newest lines are stored and a part is logged', async () => {
  const run = await ended({ what: 'many', count: 100_000 });

  const lines = await logsOf(run.run_id);
  expect(lines).toHaveLength(1000);
  expect(lines[0]).toMatchObject({ seq: 99_001, message: 'line 99001' });
  expect(lines.at(-1)).toMatchObject({ seq: 100_000, message: 'line 100000' });
  const dropped = server.log.filter(({ message }) => message.startsWith('lines of a run were dropped'));
  expect(dropped.reduce((sum, entry) => sum + Number(entry['dropped']), 0)).toBe(
    100_000 - logged(run.run_id).length,
  );
});

test('stored lines of a run survive a kill of the server without duplicates', async () => {
  await using other = await startServer({ storage: 'sqlite' });
  const gate = join(folder, 'kill');
  const { thread_id } = await other.client.threads.create();
  const run = await other.client.runs.create(thread_id, 'prints', { input: { what: 'each_method', gate } });
  const read = async () =>
    (await fetch(`${other.url}/runs/${run.run_id}/logs`)).json() as Promise<RunLogLine[]>;
  await until('the lines are stored', async () => (await read()).length === 5);

  await other.restart();
  writeFileSync(gate, '');
  await other.client.runs.join(thread_id, run.run_id);

  const lines = await read();
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, index) => index + 1));
  const ofAttempt = (number: number) => messages(lines.filter(({ attempt }) => attempt === number));
  expect(ofAttempt(2)).toEqual([...ofAttempt(1), 'after the gate']);
});

test('the lines of an unknown run are 404', async () => {
  const unknown = '00000000-0000-4000-8000-000000000000';
  for (const path of [`/runs/${unknown}/logs`, `/runs/${unknown}/logs?stream=1`])
    expect((await fetch(server.url + path)).status).toBe(404);
});
