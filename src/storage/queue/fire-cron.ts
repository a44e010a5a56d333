import type { Transaction } from '../../db/db.ts';
import { raw, sql } from '../../db/sql.ts';
import type { RunWebhookRules } from '../webhooks/run-ended.ts';
import type { QueueContext } from './context.ts';
import { type EnqueueResult, enqueueIn, type NewRun } from './enqueue.ts';

/** A time of a cron's schedule has come. */
export interface CronTick {
  readonly cron_id: string;
  /** The time, as the cron's `next_run_date` says it. */
  readonly tick: string;
  /** The next time from now on, which passes over others that were missed; null when there is none. */
  readonly next: string | null;
  /** The time right after this one. */
  readonly following: string | null;
  /** ISO-8601. */
  readonly at: string;
  /** The run to make, or why there is none. */
  readonly run: NewRun | { readonly outcome: 'skipped' | 'failed'; readonly detail: string };
}

export type FireResult =
  /** Somebody else has done it, or the cron is another one by now. */
  | { readonly outcome: 'taken' }
  /** Done without a run. */
  | { readonly outcome: 'passed' }
  /** The thread of the cron is gone; the cron is as it was. */
  | { readonly outcome: 'missing thread' }
  | EnqueueResult;

/** Undoes the transaction. */
class ThreadMissing extends Error {}

/**
 * Lets a time of a cron pass: of all that try, in any process, one makes the run. Next time, note and run are one commit
 * (invariant 6). The date alone would do, were clocks never set back.
 */
export async function fireCron({ db, webhooks }: QueueContext, firing: CronTick): Promise<FireResult> {
  try {
    return await db.transaction('sync', (tx) => fireIn(tx, firing, webhooks));
  } catch (error) {
    if (error instanceof ThreadMissing) return { outcome: 'missing thread' };
    throw error;
  }
}

async function fireIn(tx: Transaction, firing: CronTick, webhooks: RunWebhookRules): Promise<FireResult> {
  const { cron_id, tick, next, following, run } = firing;
  const moved = await tx.run(sql`update crons set next_run_date = ${next}
    where cron_id = ${cron_id} and next_run_date = ${tick}`);
  if (moved === 0) return { outcome: 'taken' };
  if (!(await recordFire(tx, firing))) {
    // The times between this one and now may not have been served.
    await tx.run(sql`update crons set next_run_date = ${following} where cron_id = ${cron_id}`);
    return { outcome: 'passed' };
  }
  if (!('run' in run)) return { outcome: 'passed' };
  const enqueued = await enqueueIn(tx, run, webhooks);
  if (enqueued.outcome === 'missing thread') throw new ThreadMissing();
  if (enqueued.outcome === 'rejected') {
    await tx.run(sql`update cron_fires set outcome = 'rejected', run_id = null,
      detail = ${`In the way: run ${enqueued.blocking.join(', ')}.`}
      where cron_id = ${cron_id} and tick = ${tick}`);
  }
  return enqueued;
}

export type TriggerResult = { readonly outcome: 'missing cron' } | EnqueueResult;

/** Makes a run of a cron now, and leaves the cron as it is. */
export function triggerCron(
  { db, webhooks }: QueueContext,
  cron_id: string,
  run: NewRun,
  at: string,
): Promise<TriggerResult> {
  // Everybody locks the cron before the thread.
  const lock = raw(db.dialect === 'postgres' ? 'for update' : '');
  return db.transaction('sync', async (tx) => {
    const cron = await tx.get(sql`select 1 from crons where cron_id = ${cron_id} ${lock}`);
    if (!cron) return { outcome: 'missing cron' };
    const enqueued = await enqueueIn(tx, run, webhooks);
    if (enqueued.outcome === 'queued') await recordFire(tx, { cron_id, tick: null, run, at });
    return enqueued;
  });
}

type FireRecord = Pick<CronTick, 'cron_id' | 'run' | 'at'> & { readonly tick: string | null };

/** False when this time was noted before: the clock was set back, and it came again. */
async function recordFire(tx: Transaction, { cron_id, tick, run, at }: FireRecord): Promise<boolean> {
  const { outcome, detail, run_id, thread_id } =
    'run' in run
      ? { ...run.run, outcome: 'started', detail: null }
      : { ...run, run_id: null, thread_id: null };
  const inserted = await tx.run(sql`
    insert into cron_fires (cron_id, tick, outcome, detail, run_id, thread_id, fired_at)
    values (${cron_id}, ${tick}, ${outcome}, ${detail}, ${run_id}, ${thread_id}, ${at})
    on conflict (cron_id, tick) do nothing`);
  return inserted > 0;
}
