import { existsSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDataFolder } from '../support/data-folder.ts';
import { naming } from '../support/naming.ts';
import { startServer, type TestServer } from '../support/server.ts';

// Hosts are started again and again.

/** What a node does to the process that executes it, and what it costs others: one server with two hosts. */
let server: TestServer;
let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await makeDataFolder();
  server = await startServer({
    graphs: { misbehaves: 'test/fixtures/graphs/misbehaves.ts:graph' },
    env: {
      AGENT_SERVER_HOSTS: '2',
      AGENT_SERVER_API_KEYS: '',
      BG_JOB_MAX_RETRIES: '1',
      // So that a heap is soon full.
      NODE_OPTIONS: '--max-old-space-size=400',
    },
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const file = () => join(folder, String(++files));
const executions = (log: string) =>
  existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0;

/** A run that waits until its gate exists, in whichever host. */
async function waitingRun(act: 'wait' | 'block' = 'wait') {
  const [gate, log] = [file(), file()];
  const { thread_id } = await server.client.threads.create();
  const run = await server.client.runs.create(thread_id, 'misbehaves', { input: { act, gate, log } });
  await expect.poll(() => executions(log)).toBe(1);
  return {
    thread_id,
    run_id: run.run_id,
    log,
    open: () => writeFile(gate, ''),
    join: () => server.client.runs.join(thread_id, run.run_id),
    status: async () => (await server.client.runs.get(thread_id, run.run_id)).status,
  };
}

/** Both hosts: those that another test ended are there again. */
async function allReady() {
  const ready = async () => {
    const info = (await (await fetch(`${server.url}/info`)).json()) as {
      server: { hosts: { ready: number } };
    };
    return info.server.hosts.ready;
  };
  await expect.poll(ready).toBe(2);
}

async function wait(act: string, more: object = {}) {
  return server.client.runs.wait(null, 'misbehaves', { input: { act, ...more }, raiseError: false });
}

const ENDINGS = [
  ['exit', 'process.exit', /with code 3: node "misbehave" called process\.exit\(3\)/],
  ['abort', 'process.abort', /by SIGABRT: node "misbehave" called process\.abort\(\)/],
  ['crash', 'a crash of native code', /by SIGSEGV/],
  ['exhaust', 'a heap that is full', /by SIG(ABRT|TRAP|ILL)/],
  ['garbage', 'garbage on the connection to the server', /by SIGKILL|with code/],
] as const;

test.each(ENDINGS)(
  'a run whose node does %s ends when its attempts are used up, with the cause: %s',
  async (act, _what, reason) => {
    const log = file();
    const result = await wait(act, { log });
    expect(result).toMatchObject({
      __error__: { error: 'HostLostError', message: expect.stringMatching(reason) },
    });
    // One without progress: an attempt before it may have stored the step before.
    expect(executions(log)).toBeLessThanOrEqual(2);
    expect(await wait('nothing')).toMatchObject({ act: 'nothing' });
  },
);

test('a run whose host is ended by another run continues without charging an attempt', async () => {
  const runs = await Promise.all([waitingRun(), waitingRun(), waitingRun()]);
  await wait('exit');
  await Promise.all(runs.map(({ open }) => open()));
  for (const run of runs) {
    expect(await run.join()).toMatchObject({ act: 'wait' });
    expect(await run.status()).toBe('success');
  }
});

test.each([
  ['reject', 'an unhandled rejection'],
  ['speak', 'words on the console'],
])('%s: %s do not end the host, and are logged with their run and node', async (act) => {
  const message = {
    reject: 'unhandled rejection in a node; its run is not affected',
    speak: "a word { of: 'the node' }",
  };
  const logged = server.untilLog(message[act as 'reject' | 'speak']);
  expect(await wait(act)).toMatchObject({ act });
  expect(await logged).toMatchObject({
    run_id: expect.any(String),
    thread_id: expect.any(String),
    node: 'misbehave',
  });
});

test('a node that throws undefined ends its run with an error', async () => {
  expect(await wait('throw_undefined')).toMatchObject({ __error__: { error: expect.any(String) } });
});

test.each([
  ['exceed', 'a value'],
  ['exceed_event', 'an event'],
])('%s: %s that exceeds the message limit ends its run, and no other', async (act) => {
  const beside = await waitingRun();
  const { thread_id } = await server.client.threads.create();
  const { run_id } = await server.client.runs.create(thread_id, 'misbehaves', {
    input: { act },
    streamMode: 'custom',
  });
  expect(await server.client.runs.join(thread_id, run_id)).toMatchObject({
    __error__: { message: naming('limit', 67_108_864) },
  });
  await beside.open();
  expect(await beside.join()).toMatchObject({ act: 'wait' });
  expect(executions(beside.log)).toBe(1);
});

test('while a node blocks its host, the server answers and other runs end', async () => {
  await allReady();
  const blocking = await waitingRun('block');
  const { run_id } = blocking;
  const blocked = server.untilLog('the event loop of a graph host is blocked: its other runs wait', {
    run_id,
  });
  for (let i = 0; i < 5; i += 1) expect(await wait('nothing')).toMatchObject({ act: 'nothing' });
  expect(await blocked).toMatchObject({
    node: 'misbehave',
    at: expect.stringContaining('misbehaves.ts'),
  });
  expect((await fetch(`${server.url}/ok`)).status).toBe(200);
  await blocking.open();
  expect(await blocking.join()).toMatchObject({ act: 'block' });
  expect(executions(blocking.log)).toBe(1);
});

test('cancelling a run that blocks its host ends the host', async () => {
  const beside = await Promise.all([waitingRun(), waitingRun()]);
  const blocking = await waitingRun('block');
  const ended = server.untilLog('a graph host ended', { run_id: blocking.run_id });
  await server.client.runs.cancel(blocking.thread_id, blocking.run_id, true);
  expect(await blocking.status()).toBe('interrupted');
  expect(await ended).toMatchObject({
    reason: naming('event loop'),
    thread_id: blocking.thread_id,
    assistant_id: expect.any(String),
    graph: 'misbehaves',
    attempt: 1,
    trace_id: blocking.run_id.replaceAll('-', ''),
  });
  await Promise.all(beside.map(({ open }) => open()));
  for (const run of beside) expect(await run.join()).toMatchObject({ act: 'wait' });
});

test('a host that is frozen as a whole is ended, and the run is tried again', async () => {
  const ended = server.untilLog('a graph host ended');
  const result = wait('freeze');
  expect((await ended)['reason']).toEqual(naming('no longer answers'));
  expect(await result).toMatchObject({ __error__: { error: 'HostLostError' } });
});

test('a node sees the environment without the secrets of the server', async () => {
  const { seen } = (await wait('look')) as unknown as { seen: { env: Record<string, string>; cwd: string } };
  expect(Object.keys(seen.env)).toContain('PATH');
  expect(seen.env['MALLOC_ARENA_MAX']).toBe('2');
  expect(Object.keys(seen.env)).not.toContain('DATABASE_URI');
  expect(Object.keys(seen.env).filter((name) => name.includes('AES'))).toEqual([]);
});
