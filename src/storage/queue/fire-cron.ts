import type { Transaction } from '../../db/db.ts';
import { type DialectSql, FOR_UPDATE, sql } from '../../db/sql.ts';
import type { Refusal } from '../riders.ts';
import type { QueueContext } from './context.ts';
import { type EnqueueResult, type EnqueueRules, enqueueIn, type NewRun } from './enqueue.ts';

/** A due tick of a cron's schedule. */
export interface CronTick {
  readonly cron_id: string;
  /** The tick's time, equal to the cron's `next_run_date`. */
  readonly tick: string;
  /** The next tick from now on, skipping missed ones; null if there is none. */
  readonly next: string | null;
  /** The tick right after this one. */
  readonly following: string | null;
  /** ISO-8601. */
  readonly at: string;
  /** The run to enqueue, or why there is none. */
  readonly run: NewRun | { readonly outcome: 'skipped' | 'failed'; readonly detail: string };
}

export type FireResult =
  /** Another process has fired the tick, or the cron has changed. */
  | { readonly outcome: 'taken' }
  /** The tick ended without a run. */
  | { readonly outcome: 'passed' }
  /** The thread of the cron is gone; the cron is unchanged. */
  | { readonly outcome: 'missing thread' }
  | EnqueueResult;

/** Rolls back the transaction. */
class ThreadMissing extends Error {}

/** The same: the run may have made its thread. */
class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super('a run is refused');
    this.refusal = refusal;
  }
}

/**
 * Fires a tick of a cron exactly once across processes: next date, fire record and run are one commit (invariant 6).
 * The condition on `next_run_date` alone would suffice if clocks were never set back.
 */
export async function fireCron({ db, ...rules }: QueueContext, firing: CronTick): Promise<FireResult> {
  try {
    return await db.transaction('sync', (tx) => fireIn(tx, firing, rules));
  } catch (error) {
    if (error instanceof ThreadMissing) return { outcome: 'missing thread' };
    if (!(error instanceof Refused)) throw error;
    const { refusal } = error;
    const run = { outcome: 'failed', detail: refusal.message } as const;
    const noted = await db.transaction('sync', (tx) => fireIn(tx, { ...firing, run }, rules));
    return noted.outcome === 'passed' ? { outcome: 'refused', refusal } : noted;
  }
}

async function fireIn(tx: Transaction, firing: CronTick, rules: EnqueueRules): Promise<FireResult> {
  const { cron_id, tick, next, following, run } = firing;
  const moved = await tx.run(sql`update crons set next_run_date = ${unlessEnded(next)}
    where cron_id = ${cron_id} and next_run_date = ${tick}`);
  if (moved === 0) return { outcome: 'taken' };
  if (!(await recordFire(tx, firing))) {
    // The ticks between this one and now may not have fired yet.
    await tx.run(sql`update crons set next_run_date = ${unlessEnded(following)} where cron_id = ${cron_id}`);
    return { outcome: 'passed' };
  }
  if (!('run' in run)) return { outcome: 'passed' };
  const enqueued = await enqueueIn(tx, run, rules);
  if (enqueued.outcome === 'missing thread') throw new ThreadMissing();
  if (enqueued.outcome === 'refused') throw new Refused(enqueued.refusal);
  if (enqueued.outcome === 'rejected') {
    await tx.run(sql`update cron_fires set outcome = 'rejected', run_id = null,
      detail = ${`Blocked by run ${enqueued.blocking.join(', ')}.`}
      where cron_id = ${cron_id} and tick = ${tick}`);
  }
  return enqueued;
}

/** The end may have been set since the cron was read. */
function unlessEnded(date: string | null): DialectSql {
  return {
    sqlite: sql`case when ends_at < ${date} then null else ${date} end`,
    postgres: sql`case when ends_at < ${date} then null else ${date}::timestamptz end`,
  };
}

export type TriggerResult = { readonly outcome: 'missing cron' } | EnqueueResult;

/** Enqueues a run of a cron now; the cron stays unchanged. */
export async function triggerCron(
  { db, ...rules }: QueueContext,
  cron_id: string,
  run: NewRun,
  at: string,
): Promise<TriggerResult> {
  try {
    return await db.transaction('sync', (tx) => triggerIn(tx, { cron_id, tick: null, run, at }, rules));
  } catch (error) {
    if (error instanceof Refused) return { outcome: 'refused', refusal: error.refusal };
    throw error;
  }
}

async function triggerIn(
  tx: Transaction,
  fire: FireRecord & { readonly run: NewRun },
  rules: EnqueueRules,
): Promise<TriggerResult> {
  // Lock order: the cron before the thread.
  const { cron_id, run } = fire;
  const cron = await tx.get(sql`select 1 from crons where cron_id = ${cron_id} ${FOR_UPDATE}`);
  if (!cron) return { outcome: 'missing cron' };
  const enqueued = await enqueueIn(tx, run, rules);
  if (enqueued.outcome === 'refused') throw new Refused(enqueued.refusal);
  if (enqueued.outcome === 'queued') await recordFire(tx, fire);
  return enqueued;
}

type FireRecord = Pick<CronTick, 'cron_id' | 'run' | 'at'> & { readonly tick: string | null };

/** Returns false if the tick is recorded already: the clock was set back, and the tick came again. */
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
