import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { createThread, getThread, listRuns, type RemoteRun, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { insist } from './clients.ts';
import { type Relayed, startRelayed } from './on-postgres.ts';
import { expectWhole, TEN, TEN_STEPS, untilStep, untilSuccess } from './ten-steps.ts';

/** The transactions behind requests and schedules, by what only they contain. */
const ENQUEUE = (sql: string) => sql.includes('insert into run_queue');
const CANCEL = (sql: string) => sql.includes('update run_queue set cancel_action');
const DELETE_RUN = (sql: string) => sql.includes('delete from runs where');
const DELETE_THREAD = (sql: string) => sql.includes('delete from threads where');
const PROMOTE = (sql: string) => sql.includes("update run_queue set state = 'blocked'");
const FIRE = (sql: string) => sql.includes('insert into cron_fires') && ENQUEUE(sql);

const LONG = { ...TEN_STEPS, config: { configurable: { step_ms: 60_000 } } };
const MANY_STEPS = { ...TEN_STEPS, config: { configurable: { step_ms: 300 } } };

describe.runIf(TEST_POSTGRES_URI)('a request whose commit succeeds but whose acknowledgement is lost', () => {
  let relayed: Relayed;
  beforeAll(async () => {
    relayed = await startRelayed();
  });
  afterAll(() => relayed?.[Symbol.asyncDispose]());

  test('a create: repeating the request finds the run', async () => {
    const { relay, http } = relayed;
    const thread_id = await createThread(http);
    const lost = relay.loseCommit(ENQUEUE);
    const { statuses, answer } = await insist(http, 'POST', `/threads/${thread_id}/runs`, TEN_STEPS);
    await lost;
    expect(statuses).toEqual([503, 200]);
    const run = answer.body as RemoteRun;
    expect((await listRuns(http, thread_id)).map(({ run_id }) => run_id)).toEqual([run.run_id]);
    await expectWhole(relayed, run);
  });

  test('a create and wait: repeating the request waits for the run', async () => {
    const { relay, http } = relayed;
    const thread_id = await createThread(http);
    const lost = relay.loseCommit(ENQUEUE);
    const { statuses, answer } = await insist(http, 'POST', `/threads/${thread_id}/runs/wait`, TEN_STEPS);
    await lost;
    expect(statuses).toEqual([503, 200]);
    expect(answer.body).toEqual({ n: 10, executed: TEN });
    expect(await listRuns(http, thread_id)).toHaveLength(1);
  });

  test.each([
    ['cancelled', CANCEL, 'POST', '/cancel'],
    ['deleted', DELETE_RUN, 'DELETE', ''],
  ])(
    'a run that is %s while it executes stops, and the next run of its thread starts',
    async (_, of, method, verb) => {
      const { relay, http } = relayed;
      const run = await startRun(http, MANY_STEPS);
      const next = await startRun(http, TEN_STEPS, run.thread_id);
      await untilStep(http, run, 1);
      const lost = relay.loseCommit(of);
      const { statuses } = await insist(http, method, `/threads/${run.thread_id}/runs/${run.run_id}${verb}`);
      await lost;
      expect([
        [503, 404],
        [503, 202],
      ]).toContainEqual(statuses);
      await untilSuccess(http, next);
      const { status, values } = await getThread(http, run.thread_id);
      expect(status).toBe('idle');
      expect((values as { executed: number[] }).executed.slice(-10)).toEqual(TEN);
    },
  );

  test('a thread that is deleted while its run executes leaves no rows', async () => {
    const { relay, http, server, db } = relayed;
    const run = await startRun(http, LONG);
    await untilStep(http, run, 0);
    const { thread_id, run_id } = run;
    await until('it executes', async () => (await listRuns(http, thread_id))[0]?.status === 'running');
    const stopped = server.process.untilLog('run stopped: its lease was lost', { run_id });
    const lost = relay.loseCommit(DELETE_THREAD);
    const { statuses } = await insist(http, 'DELETE', `/threads/${thread_id}`);
    await lost;
    expect(statuses).toEqual([503, 404]);
    await stopped;
    const left = await db.get(sql`
      select (select count(*) from run_queue where thread_id = ${thread_id}) as queued,
        (select count(*) from runs where thread_id = ${thread_id}) as runs,
        (select count(*) from run_events where run_id = ${run_id}) as events,
        (select count(*) from checkpoints where thread_id = ${thread_id}) as checkpoints,
        (select count(*) from checkpoint_blobs where thread_id = ${thread_id}) as blobs,
        (select count(*) from thread_log where thread_id = ${thread_id}) as log`);
    expect(left).toEqual({ queued: 0, runs: 0, events: 0, checkpoints: 0, blobs: 0, log: 0 });
  });

  test('a delayed run that becomes due executes once', async () => {
    const { relay, http } = relayed;
    const lost = relay.loseCommit(PROMOTE);
    const run = await startRun(http, { ...TEN_STEPS, after_seconds: 1 });
    await lost;
    await expectWhole(relayed, run);
  });

  test('a cron that fires creates one run', async () => {
    const { relay, http, db } = relayed;
    const yearly = { ...TEN_STEPS, schedule: '0 0 1 1 *', on_run_completed: 'keep' };
    const { cron_id } = await http.call<{ cron_id: string }>('POST', '/runs/crons', yearly);
    const due = new Date(Date.now() - 5000).toISOString();
    await db.run(sql`update crons set next_run_date = ${due} where cron_id = ${cron_id}`);
    const lost = relay.loseCommit(FIRE);
    // It looks now, and not in some seconds.
    await http.call('POST', '/runs/crons', yearly);
    await lost;
    const fires = () => http.call<{ status: string }[]>('GET', `/runs/crons/${cron_id}/runs`);
    await until('its run has succeeded', async () => (await fires())[0]?.status === 'success');
    await until(
      'it is not due',
      async () => (await db.all(sql`select 1 from crons where next_run_date < now()`)).length === 0,
    );
    expect(await fires()).toHaveLength(1);
    const runs = await db.get(
      sql`select count(*) as n from runs where kwargs->'config'->'configurable'->>'cron_id' = ${cron_id}`,
    );
    expect(runs).toEqual({ n: 1 });
  });
});
