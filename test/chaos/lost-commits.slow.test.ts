import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { attemptsOf, getThread, joinRun, startRun } from '../support/remote-runs.ts';
import { endLease, type Relayed, startRelayed } from './on-postgres.ts';
import { expectDenseLog, expectWhole, TEN, TEN_STEPS, untilStep, untilSuccess } from './ten-steps.ts';

/** The transactions of a worker, by what only they contain. */
const CLAIM = (sql: string) => sql.includes("update runs set status = 'running'");
const BATCH = (sql: string) => sql.includes('update run_queue set batches');
const FRAMES = (sql: string) => BATCH(sql) && sql.includes('insert into run_events');
const CHECKPOINT = (sql: string) => BATCH(sql) && sql.includes('insert into checkpoints');
const FINISH = (sql: string) => sql.includes('delete from run_queue') && sql.includes('update threads');
const RELEASE = (sql: string) => sql.includes("update run_queue set state = 'ready', lease_token = null");
const REAP = (sql: string) => RELEASE(sql) && sql.includes('from workers');
const HEARTBEAT = (sql: string) => sql.includes('insert into workers');

describe.runIf(TEST_POSTGRES_URI)('a worker whose commit succeeds but whose acknowledgement is lost', () => {
  let relayed: Relayed;
  beforeAll(async () => {
    relayed = await startRelayed({ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '1' });
  });
  afterAll(() => relayed?.[Symbol.asyncDispose]());

  test('claim: the run is released and is not charged an attempt', async () => {
    const { relay, http } = relayed;
    const lost = relay.loseCommit(CLAIM);
    const run = await startRun(http, TEN_STEPS);
    await lost;
    await expectWhole(relayed, run);
    expect(await attemptsOf(http, run)).toEqual([1]);
  });

  test.each([
    ['events', FRAMES],
    ['a checkpoint', CHECKPOINT],
  ])('%s: the next attempt continues from it', async (_, of) => {
    const { relay, http } = relayed;
    const lost = relay.loseCommit(of);
    const run = await startRun(http, TEN_STEPS);
    await lost;
    await expectWhole(relayed, run);
    expect(await attemptsOf(http, run)).toEqual([1, 2]);
  });

  test('end of a run: waiting clients get the result, and the next run of the thread starts', async () => {
    const { relay, http } = relayed;
    const lost = relay.loseCommit(FINISH);
    const run = await startRun(http, TEN_STEPS);
    const next = await startRun(http, TEN_STEPS, run.thread_id);
    const joined = joinRun(http, run);
    await lost;
    expect(await joined).toMatchObject({ n: 10 });
    await untilSuccess(http, next);
    await expectDenseLog(relayed.db, run);
    expect((await getThread(http, run.thread_id)).values).toEqual({ n: 10, executed: [...TEN, ...TEN] });
  });

  test('heartbeat: the runs are unaffected', async () => {
    const { relay, http } = relayed;
    const run = await startRun(http, slowSteps());
    await relay.loseCommit(HEARTBEAT);
    await expectWhole(relayed, run);
    expect(await attemptsOf(http, run)).toEqual([1]);
  });

  test('requeue at shutdown: the next start continues the run without charging an attempt', async () => {
    const { relay, http, server } = relayed;
    const run = await startRun(http, slowSteps());
    await untilStep(http, run, 1);
    const lost = relay.loseCommit(RELEASE);
    expect(await server.process.kill('SIGTERM')).toBe(0);
    await lost;
    await server.process.restart();
    await expectWhole(relayed, run);
    expect(await attemptsOf(http, run)).toEqual([1, 1]);
  });

  test('recovery from a dead worker: the run continues once', async () => {
    const { relay, http, server, db } = relayed;
    const run = await startRun(http, slowSteps());
    await untilStep(http, run, 1);
    const { pid } = server.process;
    await server.process.kill('SIGKILL');
    await endLease(db, pid);
    const lost = relay.loseCommit(REAP);
    await server.process.restart();
    await lost;
    await expectWhole(relayed, run);
    expect(await attemptsOf(http, run)).toEqual([1, 2]);
  });
});

function slowSteps() {
  return { ...TEN_STEPS, config: { configurable: { step_ms: 300 } } };
}
