import { columns } from '../../db/columns.ts';
import type { Reader, Transaction } from '../../db/db.ts';
import { list, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';

/** Chooses which of several executors executes a run, where one queue serves them all. */
export interface Placement {
  /**
   * The executor of a new run; null: any. The thread is locked, and the run is not inserted yet. It may give the thread an
   * executor too: `threads.executor_id`.
   */
  executorOf(
    tx: Transaction,
    run: { readonly thread_id: string; readonly graph_id: string },
  ): Promise<string | null>;
}

/**
 * Which runs a worker claims while several executors serve: those of one, or all but those of some. What names an executor that
 * does not serve any more is among the others, so that no run can be left without a worker.
 */
export type ExecutorScope = { readonly only: string } | { readonly except: readonly string[] };

/** Begins with `and`; empty without a scope. */
export function inScope(scope: ExecutorScope | undefined): Sql {
  if (!scope) return raw('');
  if ('only' in scope) return sql` and executor_id = ${scope.only}`;
  return sql` and (executor_id is null or executor_id not in ${list(scope.except)})`;
}

const EXECUTOR_ID = columns('run_queue', 'executor_id');

/** Executors that runs wait for by name. */
export async function executorsWaitedFor(reader: Reader): Promise<string[]> {
  const rows = await reader.all(sql`
    select distinct ${EXECUTOR_ID} from run_queue
    where state = 'ready' and executor_id is not null and not_before <= ${NOW}`);
  return rows.flatMap(({ executor_id }) => executor_id ?? []);
}
