import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { program } from '../support/program.ts';
import { type Project, project } from '../support/project.ts';

const MISBEHAVES = resolve(import.meta.dirname, '../fixtures/graphs/misbehaves.ts:graph');

/** `agent-server start` in a project that configures nothing but its graph. */
let folder: Project;
let child: ReturnType<typeof program>;
let url: string;
let client: Client;
let files = 0;

beforeAll(async () => {
  folder = await project({ 'agent.config.yaml': `graphs: { misbehaves: "${MISBEHAVES}" }\n` });
  child = program(['start', '--port', '0'], {
    cwd: folder.root,
    // So that a heap is soon full.
    env: { NODE_OPTIONS: '--max-old-space-size=400' },
  });
  for await (const line of createInterface(child.stdout)) {
    const { message, url: known } = JSON.parse(line) as { message: string; url: string };
    if (message !== 'ready') continue;
    url = known;
    break;
  }
  child.stdout.resume();
  client = new Client({ apiUrl: url });
});

afterAll(async () => {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  await folder[Symbol.asyncDispose]();
});

const file = () => folder.path(String(++files));
const executions = (log: string) =>
  existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0;

/** A run in the middle of a node, which ends once its gate is open. */
async function begun(act: 'wait' | 'block') {
  const [gate, log] = [file(), file()];
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, 'misbehaves', { input: { act, gate, log } });
  await expect.poll(() => executions(log)).toBe(1);
  return {
    log,
    open: () => writeFile(gate, ''),
    join: () => client.runs.join(thread_id, run_id),
    state: () => client.threads.getState(thread_id),
    status: async () => (await client.runs.get(thread_id, run_id)).status,
  };
}

const wait = (act: string, log?: string) =>
  client.runs.wait(null, 'misbehaves', { input: { act, log }, raiseError: false });

async function expectService(): Promise<void> {
  expect((await fetch(`${url}/ok`)).status).toBe(200);
  expect(await wait('nothing')).toMatchObject({ act: 'nothing' });
}

test('while a node computes without a pause, the server answers, new runs end, and those beside it end', async () => {
  const beside = await begun('wait');
  const computing = await begun('block');

  // Sent before it is known that the host is blocked.
  expect(await beside.state()).toMatchObject({ next: ['misbehave'] });
  await expectService();
  await beside.open();
  expect(await beside.join()).toMatchObject({ act: 'wait' });
  expect(await computing.status()).toBe('running');
  await computing.open();
  expect(await computing.join()).toMatchObject({ act: 'block' });
  expect(executions(computing.log)).toBe(1);
});

test.each([
  ['exit', 'process.exit'],
  ['abort', 'process.abort'],
  ['exhaust', 'a full heap'],
])('%s: %s of a node ends its own run alone', async (act) => {
  const beside = await begun('wait');
  const log = file();
  const ending = wait(act, log);

  // It has ended a host, perhaps that of the other run.
  await expect.poll(() => executions(log)).toBeGreaterThan(1);
  await expectService();
  await beside.open();
  expect(await beside.join()).toMatchObject({ act: 'wait' });
  expect(await beside.status()).toBe('success');
  expect(await ending).toMatchObject({ __error__: { error: 'HostLostError' } });
  await expectService();
});

test('an unhandled rejection of a node ends no run', async () => {
  const beside = await begun('wait');

  expect(await wait('reject')).toMatchObject({ act: 'reject' });
  await expectService();
  await beside.open();
  expect(await beside.join()).toMatchObject({ act: 'wait' });
  expect(executions(beside.log)).toBe(1);
});
