import { expect, test } from 'vitest';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { until } from '../support/until.ts';
import { BusyThreads } from './busy-threads.ts';
import { untilPortAnswers } from './clients.ts';
import { complaints } from './complaints.ts';
import { endLease, heldBy, type Pair, startPair } from './on-postgres.ts';
import { type ChaosServer, startChaosServer } from './server.ts';
import { IS_FULL, sized } from './size.ts';

const THREADS = sized(50, 150);
/** PostgreSQL takes longer for each of them. */
const THREADS_OF_TWO = sized(50, 100);
const ROUNDS = sized(1, 4);
const env = { N_JOBS_PER_WORKER: String(THREADS), BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '1' };
const TIMEOUT_MS = sized(300_000, 600_000);

test('a killed server recovers its runs after the restart while clients roll back, interrupt and cancel them', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using server = await startChaosServer(env);
  using threads = await BusyThreads.create(THREADS, server);
  for (let round = 0; round < ROUNDS; round++) {
    await threads.park();
    await server.process.kill('SIGKILL');
    const restarted = server.process.restart();
    // Before it says `ready`: it answers already while it takes back one run after the other.
    await untilPortAnswers(server.process.url);
    await threads.attackAll(round);
    await restarted;
  }
  await expectPeace(threads, server);
});

test.runIf(IS_FULL)(
  'a server that stops requeues its runs while clients roll back, interrupt and cancel them',
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    await using server = await startChaosServer(env);
    using threads = await BusyThreads.create(THREADS, server);
    for (let round = 0; round < ROUNDS; round++) {
      await threads.park();
      await stopUnderAttack(server, threads, round);
      await server.process.restart();
    }
    await expectPeace(threads, server);
  },
);

test.runIf(TEST_POSTGRES_URI)(
  'when one of two servers is killed, the other recovers its runs while clients use it',
  { timeout: TIMEOUT_MS },
  async () => {
    await using pair = await startPair(env);
    using threads = await playWithTwo(pair, async (threads, round, { process }) => {
      const held = await runsOf(pair, process.pid);
      await process.kill('SIGKILL');
      await endLease(pair.db, process.pid);
      const restarted = process.restart();
      await until('the first run is taken back', held.areFewer);
      await threads.attackAll(round);
      await restarted;
    });
    await expectPeace(threads, pair.one, pair.two);
  },
);

test.runIf(TEST_POSTGRES_URI)(
  'when one of two servers stops, it requeues its runs while clients use both',
  { timeout: TIMEOUT_MS },
  async () => {
    await using pair = await startPair(env);
    using threads = await playWithTwo(pair, async (threads, round, stopping) => {
      await stopUnderAttack(stopping, threads, round);
      await stopping.process.restart();
    });
    await expectPeace(threads, pair.one, pair.two);
  },
);

test.runIf(TEST_POSTGRES_URI && IS_FULL)(
  'a server that was frozen beyond its lease finds its runs recovered and changed by the other server',
  { timeout: TIMEOUT_MS },
  async () => {
    await using pair = await startPair(env);
    using threads = await playWithTwo(pair, async (threads, round, still, awake) => {
      const { pid } = still.process;
      const held = await runsOf(pair, pid);
      threads.servers = [awake];
      process.kill(pid, 'SIGSTOP');
      await until('the first run is taken back', held.areFewer);
      await threads.attackAll(round);
      process.kill(pid, 'SIGCONT');
      threads.servers = [pair.one, pair.two];
    });
    await expectPeace(threads);
    const unexpected = (await complaints(pair.one)).filter(({ message }) => message !== STOOD_STILL);
    expect(unexpected).toEqual([]);
  },
);

/** What a process says that goes on after its lease, if it comes to it before it hears that its runs were taken. */
const STOOD_STILL = 'the lease of this process is expiring: its runs stop, and continue in another process';

type Round = (threads: BusyThreads, round: number, one: ChaosServer, other: ChaosServer) => Promise<void>;

/** Plays rounds with two servers, whose roles change with each; runs execute on both when a round begins. */
async function playWithTwo({ one, two }: Pair, play: Round): Promise<BusyThreads> {
  using opened = new DisposableStack();
  const threads = opened.use(await BusyThreads.create(THREADS_OF_TWO, one, two));
  for (let round = 0; round < ROUNDS; round++) {
    await threads.park();
    await (round % 2 === 0 ? play(threads, round, one, two) : play(threads, round, two, one));
  }
  opened.move();
  return threads;
}

/** The runs that a process holds, of which there are some. */
async function runsOf({ db }: Pair, pid: number) {
  const held = await heldBy(db, pid);
  expect(held).toBeGreaterThan(0);
  return { areFewer: async () => (await heldBy(db, pid)) < held };
}

/** Each thread is attacked in the moment in which the server lets go of its run. */
async function stopUnderAttack({ process }: ChaosServer, threads: BusyThreads, round: number): Promise<void> {
  const attacks: Promise<void>[] = [];
  let isStopping = true;
  for (const thread_id of threads.ids) {
    void process.untilLog('run released, it will be retried', { thread_id }).then(() => {
      if (isStopping) attacks.push(threads.attack(thread_id, round));
    });
  }
  expect(await process.kill('SIGTERM')).toBe(0);
  isStopping = false;
  await Promise.all(attacks);
  expect(attacks.length).toBeGreaterThan(0);
}

/** Nobody was turned away, every thread takes a new run, and the servers in question report nothing wrong. */
async function expectPeace(threads: BusyThreads, ...servers: readonly ChaosServer[]): Promise<void> {
  await threads.settle();
  expect(threads.answered).toBeGreaterThan(0);
  expect(threads.failures).toEqual([]);
  expect(await complaints(...servers)).toEqual([]);
}
