import { columns } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import { decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { isOneOf } from '../../db/json.ts';
import { raw, type Sql, sql } from '../../db/sql.ts';
import { nowPlus } from '../../db/time.ts';
import type { RunSummary } from '../../schemas/run-search.ts';
import type { RunStatus } from '../../schemas/runs.ts';
import { RUN_ERROR_COLUMN } from './runs.ts';

/** How long a run that was removed at its end is listed, ms. */
const LISTED_MS = 3_600_000;
/** How many of them are listed: a busy server ends millions in an hour. */
const LISTED_RUNS = 10_000;

/** How a run ended that is removed. */
export interface RemovedRunEnd {
  readonly status: RunStatus;
  /** JSON text; what a cancel stored takes precedence. */
  readonly error: string | null;
  /** ISO-8601. */
  readonly at: string;
}

/**
 * Part of the transaction that deletes a run at its end with its temporary thread, before it does: what a list shows of it
 * stays. `end`: undefined if the row of the run has it. A run that never started leaves nothing.
 */
export function keepRemovedRun(tx: Transaction, run_id: string, end?: RemovedRunEnd): void {
  const failure = end?.error ? tx.cipher.encryptJson(RUN_ERROR_COLUMN, end.error) : null;
  const [status, ended_at] = end ? [sql`${end.status}`, sql`${end.at}`] : [raw('status'), raw('ended_at')];
  tx.defer(sql`
    insert into removed_runs (run_id, ${raw(COLUMNS.join(', '))})
    select run_id, thread_id, assistant_id, ${status}, multitask_strategy, coalesce(error, ${failure}), cancel_reason,
      created_at, started_at, ${ended_at}, used.*
    from runs cross join (
      select count(*), count(*) - count(cost), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_cached), 0),
        coalesce(sum(tokens_out), 0), coalesce(sum(cost), 0)
      from run_steps where run_id = ${run_id} and kind = 'model') used
    where run_id = ${run_id} and started_at is not null
    on conflict (run_id) do update set ${raw(COLUMNS.map((name) => `${name} = excluded.${name}`).join(', '))}`);
}

/** Clients may use an id again. */
const COLUMNS = [
  ...['thread_id', 'assistant_id', 'status', 'multitask_strategy', 'error', 'cancel_reason'],
  ...['created_at', 'started_at', 'ended_at'],
  ...['calls', 'unpriced_calls', 'tokens_in', 'tokens_cached', 'tokens_out', 'cost'],
];

const REMOVED = columns(
  'removed_runs',
  `run_id, thread_id, assistant_id, status, multitask_strategy, error, cancel_reason, created_at, started_at, ended_at`,
);

/** Of those that are still listed, in no order. */
export async function removedSummaries(reader: Reader, run_ids: readonly string[]): Promise<RunSummary[]> {
  if (run_ids.length === 0) return [];
  const rows = await reader.all(sql`select ${REMOVED} from removed_runs where ${isOneOf('run_id', run_ids)}`);
  return rows.map((row) => {
    const run = decryptJsonColumns(reader.cipher, row, { error: RUN_ERROR_COLUMN });
    return { ...run, updated_at: run.ended_at, metadata: {}, waiting: false, removed: true };
  });
}

/** Deletes, at most `limit`, what is not to be listed any more; returns how many. */
export function deleteUnlisted(db: Db, limit: number): Promise<number> {
  const before = nowPlus(-LISTED_MS);
  const oldest = (condition: Sql) => sql`
    select run_id from (select run_id from removed_runs where ${condition} order by created_at limit ${limit}) oldest`;
  const ended = oldest(sql`created_at <= ${before} and ended_at <= ${before}`);
  const tooMany = oldest(sql`created_at < (
    select created_at from removed_runs order by created_at desc limit 1 offset ${LISTED_RUNS - 1})`);
  return db.run(
    sql`delete from removed_runs where run_id in (${ended} union ${tooMany} limit ${limit})`,
    'async',
  );
}
