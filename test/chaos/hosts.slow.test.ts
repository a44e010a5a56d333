import { expect, test } from 'vitest';
import { hostsOf } from '../support/hosts.ts';
import { getRun, getThread, listRuns, type RemoteRun, startRun } from '../support/remote-runs.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { until } from '../support/until.ts';
import { CutReader } from './cut-reader.ts';
import { startChaosServer } from './server.ts';
import { sized } from './size.ts';
import { TEN, TEN_STEPS } from './ten-steps.ts';

const RUNS = sized(40, 200);
const KILLS = sized(6, 30);

const random = seededRandom(20_261_123);
const below = (limit: number): number => Math.floor(random() * limit);

test('every run ends once and every stream is complete when hosts and the server are killed repeatedly', {
  timeout: sized(300_000, 900_000),
}, async () => {
  await using server = await startChaosServer({ AGENT_SERVER_HOSTS: '2', BG_JOB_MAX_RETRIES: '50' });
  const { http } = server;
  const seen = new Set<number>();
  const runs = await Promise.all(Array.from({ length: RUNS }, () => startRun(http, TEN_STEPS)));
  const readers = runs.map(({ thread_id, run_id }) => {
    const path = `/threads/${thread_id}/runs/${run_id}/stream`;
    return new CutReader(server.process.url, { path, all: '-1' });
  });
  const read = Promise.all(readers.map((reader) => reader.read([])));

  for (let kill = 1; kill <= KILLS; kill += 1) {
    const goal = Math.floor((RUNS * kill) / (KILLS + 1));
    await until(`${goal} runs have ended`, async () => (await idleThreads()) >= goal);
    // A host that keeps ending is started again after a pause.
    await until('there is a host', () => hostsOf(server.process.pid).length > 0);
    const hosts = hostsOf(server.process.pid);
    for (const pid of hosts) seen.add(pid);
    // The last one is the server, so that it is killed whatever the dice say.
    const isServer = kill === KILLS || below(4) === 0;
    if (isServer) {
      await server.process.kill('SIGKILL');
      await until('the hosts of the server are gone', () => !hosts.some(isAlive));
      await server.process.restart();
    } else process.kill(hosts[below(hosts.length)] as number, 'SIGKILL');
  }

  await read;
  for (const [index, run] of runs.entries()) await expectOnce(run, readers[index] as CutReader);
  expect(await server.process.kill('SIGTERM')).toBe(0);
  expect([...seen].filter(isAlive)).toEqual([]);

  function idleThreads(): Promise<number> {
    return http.call('POST', '/threads/count', { status: 'idle' });
  }

  async function expectOnce(run: RemoteRun, { seen: events }: CutReader): Promise<void> {
    expect((await getRun(http, run)).status).toBe('success');
    expect(await getThread(http, run.thread_id)).toMatchObject({
      status: 'idle',
      values: { n: 10, executed: TEN },
    });
    expect(await listRuns(http, run.thread_id)).toHaveLength(1);
    expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, index) => index + 1));
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
