import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDataFolder } from '../support/data-folder.ts';
import { freePort } from '../support/free-port.ts';
import { hostsOf } from '../support/hosts.ts';
import { program } from '../support/program.ts';
import { type ServerOptions, startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';

// Servers and hosts are started again and again.

const MISBEHAVES = resolve(import.meta.dirname, '../fixtures/graphs/misbehaves.ts:graph');

let folder: string;
beforeEach(async () => {
  folder = await makeDataFolder();
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A server with so many hosts, whose configuration has these keys too. */
async function serverWith(
  hosts: number,
  more: object = {},
  env: ServerOptions['env'] = {},
): Promise<TestServer> {
  const config = join(folder, 'agent.config.json');
  await writeFile(config, JSON.stringify({ graphs: { misbehaves: MISBEHAVES }, ...more }));
  return startServer({ config, env: { AGENT_SERVER_HOSTS: String(hosts), ...env } });
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Starts a run that waits at its gate; resolves when it does. */
async function waitingRun({ client }: TestServer, act: 'wait' | 'block', gate = join(folder, 'gate')) {
  const log = `${gate}.log`;
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, 'misbehaves', { input: { act, gate, log } });
  await expect.poll(() => existsSync(log)).toBe(true);
  return { thread_id, run_id };
}

async function pidOfHost({ client }: TestServer): Promise<number> {
  const { pids } = (await client.runs.wait(null, 'misbehaves', { input: { act: 'nothing' } })) as {
    pids: number[];
  };
  return pids[0] as number;
}

test.each(['wait', 'block'] as const)(
  'no graph host outlives a killed server while a node does: %s',
  async (act) => {
    await using server = await serverWith(1);
    const pid = await pidOfHost(server);
    await waitingRun(server, act);
    await server.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
  },
);

test('a server that drains hands its runs over and leaves no host behind', async () => {
  await using server = await serverWith(1, { runs: { shutdown_grace_seconds: 0 } });
  const pid = await pidOfHost(server);
  const { thread_id, run_id } = await waitingRun(server, 'wait');
  expect(await server.kill('SIGTERM')).toBe(0);
  expect(isAlive(pid)).toBe(false);
  await writeFile(join(folder, 'gate'), '');
  await server.restart();
  expect(await server.client.runs.join(thread_id, run_id)).toMatchObject({ act: 'wait' });
});

test('a host above its memory limit is replaced, and its current runs continue elsewhere uncharged', async () => {
  await using server = await serverWith(1, { hosts: { max_memory_mb: 600 } });
  const replaced = server.untilLog('replacing a graph host');
  const { thread_id, run_id } = await waitingRun(server, 'wait');
  const pid = await pidOfHost(server);
  await server.client.runs.wait(null, 'misbehaves', { input: { act: 'grow' } });
  expect((await replaced)['reason']).toContain('hosts.max_memory_mb');
  await expect.poll(() => pidOfHost(server)).not.toBe(pid);
  await writeFile(join(folder, 'gate'), '');
  const { pids } = (await server.client.runs.join(thread_id, run_id)) as { pids: number[] };
  expect(pids.slice(0, 2)).toEqual([pid, pid]);
  expect(pids[2]).not.toBe(pid);
  const ended = server.log.find(({ message, run_id: of }) => message === 'run ended' && of === run_id);
  expect(ended).toMatchObject({ status: 'success', attempt: 1 });
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('an endless loop ends as a timeout, and only its host is replaced', async () => {
  await using server = await serverWith(1, {}, { BG_JOB_TIMEOUT_SECS: '10' });
  const pid = await pidOfHost(server);
  const { thread_id, run_id } = await waitingRun(server, 'block');
  await server.client.runs.join(thread_id, run_id).catch(() => {});
  expect((await server.client.runs.get(thread_id, run_id)).status).toBe('timeout');
  await expect.poll(() => isAlive(pid)).toBe(false);
  await expect.poll(() => pidOfHost(server)).not.toBe(pid);
});

test('a server whose project is still loading answers, is not ready, and stops when it is told to', async () => {
  await writeFile(join(folder, 'loads.mjs'), 'await new Promise(() => {});');
  await writeFile(join(folder, 'agent.config.yaml'), 'graphs: { loads: "./loads.mjs:graph" }');
  const port = String(await freePort());
  const child = program(['start', '--port', port], { cwd: folder });
  child.stdout.resume();
  child.stderr.resume();
  const status = async (path: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined))?.status;
  await until('the server answers', async () => (await status('/ok')) === 200);
  expect(await status('/ok?check_db=1')).toBe(503);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a project that ends its process while loading is not loaded endlessly', async () => {
  const file = join(folder, 'exits.mjs');
  await writeFile(file, 'process.exit(7);');
  await using server = await serverWith(2, { graphs: { exits: `${file}:graph` } });
  expect((await fetch(`${server.url}/ok`)).status).toBe(200);
  const failed = server.client.runs.wait(null, 'exits', { input: {} });
  await expect(failed).rejects.toThrow(/GraphLoadError.*ended 3 times/s);
  expect(server.log.filter(({ message }) => message === 'a graph host ended')).toHaveLength(3);

  await writeFile(file, `export { graph } from ${JSON.stringify(MISBEHAVES.replace(/:graph$/, ''))};`);
  await expect
    .poll(
      () => server.client.runs.wait(null, 'exits', { input: { act: 'nothing' } }).catch(() => undefined),
      {
        timeout: 30_000,
        interval: 500,
      },
    )
    .toMatchObject({ act: 'nothing' });
});

test('hosts that are killed while they load a project only delay its runs', async () => {
  await using server = await serverWith(1);
  await pidOfHost(server);
  const killed: number[] = [];
  while (killed.length < 3) {
    const alive = () => hostsOf(server.pid).filter((pid) => !killed.includes(pid));
    await until('there is a host', () => alive().length > 0);
    const [host] = alive() as [number];
    process.kill(host, 'SIGKILL');
    killed.push(host);
  }
  expect(killed).not.toContain(await pidOfHost(server));
});

test('a graph that fails to load in all hosts reports the reason and is logged once', async () => {
  const file = join(folder, 'broken.mjs');
  await writeFile(file, "throw new Error('not today');");
  const graphs = { misbehaves: MISBEHAVES, broken: `${file}:graph` };
  await using server = await serverWith(2, { graphs });
  const failed = server.client.runs.wait(null, 'broken', { input: {} });
  await expect(failed).rejects.toThrow(/not today/);
  await pidOfHost(server);
  expect(
    server.log.filter(({ message }) => message.includes('not today') && !message.includes('run')),
  ).toHaveLength(1);
});
