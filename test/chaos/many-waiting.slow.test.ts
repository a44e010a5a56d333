import { describe, expect, test } from 'vitest';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { closedGate, type Gate } from '../support/gate.ts';
import { hostsOf } from '../support/hosts.ts';
import { joinRun, listRuns, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { endLease, startPair } from './on-postgres.ts';
import { startChaosServer } from './server.ts';

const RUNS = 300;
const SHARED = 200;
const HOSTED = 100;

/** Runs that wait at the gate. */
function waiting(gate: Gate, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    assistant_id: 'gate',
    input: { folder: gate.folder, label: String(index) },
  }));
}

/** Waits until so many have entered, each of them once in its process. */
async function untilEntered(gate: Gate, count: number): Promise<void> {
  await until(`${count} have entered`, () => gate.entries().length >= count);
  const entries = gate.entries();
  expect(entries).toHaveLength(count);
  expect(new Set(entries).size).toBe(count);
}

test('300 concurrently waiting runs survive a kill and a stop: none is lost or ends twice', async () => {
  using gate = closedGate();
  await using server = await startChaosServer({ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '0' });
  const { http } = server;
  const runs = await Promise.all(waiting(gate, RUNS).map((run) => startRun(http, run)));
  await untilEntered(gate, RUNS);
  await server.process.kill('SIGKILL');
  await server.process.restart();
  await untilEntered(gate, 2 * RUNS);
  expect(await server.process.kill('SIGTERM')).toBe(0);
  await server.process.restart();
  await untilEntered(gate, 3 * RUNS);

  gate.open();
  const values = await Promise.all(runs.map((run) => joinRun(http, run)));
  expect(values).toEqual(runs.map((_, index) => expect.objectContaining({ left: [String(index)] })));
  for (const { thread_id } of runs) expect(await listRuns(http, thread_id)).toHaveLength(1);
  expect(gate.entries()).toHaveLength(3 * RUNS);
});

test('waiting runs in a graph host execute concurrently, and the server reports how many it can execute', async () => {
  using gate = closedGate();
  await using server = await startChaosServer({ AGENT_SERVER_HOSTS: '1' });
  const { http } = server;
  const runs = await Promise.all(waiting(gate, HOSTED).map((run) => startRun(http, run)));
  await untilEntered(gate, HOSTED);
  const stats = async () =>
    (await http.call<{ workers: { max: number } }>('GET', '/metrics?format=json')).workers;
  // It has looked for more.
  await until('it has time again', async () => (await stats()).max > HOSTED);
  expect(await stats()).toEqual({ max: 1000, active: HOSTED, available: 1000 - HOSTED });

  gate.open();
  const values = await Promise.all(runs.map((run) => joinRun(http, run)));
  expect(values).toEqual(runs.map((_, index) => expect.objectContaining({ left: [String(index)] })));
});

describe.runIf(TEST_POSTGRES_URI)('two processes on one PostgreSQL', () => {
  test('share runs created through one of them, and one takes over all when the other is killed', async () => {
    using gate = closedGate();
    await using pair = await startPair();
    const { http } = pair.one;
    const runs = await Promise.all(waiting(gate, SHARED).map((run) => startRun(http, run)));
    await untilEntered(gate, SHARED);
    const { pid } = pair.two.process;
    const pids = [pid, ...hostsOf(pid)];
    const taken = gate.entries().filter((entry) => pids.some((one) => entry.startsWith(`${one} `))).length;
    // How many depends on how busy each is: the first also accepts all requests.
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(SHARED);

    await pair.two.process.kill('SIGKILL');
    await endLease(pair.db, pid);
    await untilEntered(gate, SHARED + taken);
    gate.open();
    const values = await Promise.all(runs.map((run) => joinRun(http, run)));
    expect(values).toEqual(runs.map((_, index) => expect.objectContaining({ left: [String(index)] })));
  });
});
