import { columns, number } from '../../../db/columns.ts';
import type { Db } from '../../../db/db.ts';
import { isOneOf } from '../../../db/json.ts';
import { and, defined, raw, sql } from '../../../db/sql.ts';
import { threadVisible, type Visibility } from '../../../storage/access/visibility.ts';
import { NANOS, type UsageSums } from './charges.ts';

const OF_RUN = columns(
  'usage_runs',
  `usage_runs.run_id, usage_runs.calls, usage_runs.unpriced_calls, usage_runs.tokens_in, usage_runs.tokens_cached,
   usage_runs.tokens_out, usage_runs.cost_nanos`,
);

/** What the core keeps of runs that were removed at their end, for an hour. */
const OF_REMOVED = columns(
  'removed_runs',
  'run_id, calls, unpriced_calls, tokens_in, tokens_cached, tokens_out, cost',
);

/** Newest runs of a thread that are summed up: some 10 ms. */
const RUNS_OF_THREAD = 5000;

/** Sums of a thread, over the runs that were counted. */
export interface ThreadSums extends UsageSums {
  readonly runs: number;
}

export type RunUsageRepository = ReturnType<typeof runUsageRepository>;

/** What runs that are listed used of models; `charges.ts` writes it. */
export function runUsageRepository(db: Db) {
  return {
    /**
     * Of those runs that are visible and called models, in no order; of removed ones too for who may see every thread.
     */
    async ofRuns(
      run_ids: readonly string[],
      visibility: Visibility | undefined,
    ): Promise<readonly (UsageSums & { readonly run_id: string })[]> {
      const seen = defined([threadVisible('runs.thread_id', visibility)]);
      const runs =
        await db.all(sql`select ${OF_RUN} from usage_runs join runs on runs.run_id = usage_runs.run_id
        where ${and([isOneOf('usage_runs.run_id', run_ids), ...seen])}`);
      if (visibility) return runs;
      const removed = await db.all(sql`select ${OF_REMOVED} from removed_runs
        where ${isOneOf('run_id', run_ids)} and calls > 0`);
      return [
        ...runs,
        ...removed.map(({ cost, ...sums }) => ({ ...sums, cost_nanos: Math.round(cost * NANOS) })),
      ];
    },

    /** Over the newest runs of the thread that called models. `undefined` if the thread is not visible. */
    async ofThread(thread_id: string, visibility: Visibility | undefined): Promise<ThreadSums | undefined> {
      const seen = defined([threadVisible('threads.thread_id', visibility)]);
      const thread = await db.get(sql`select ${columns('threads', 'threads.thread_id')} from threads
        where ${and([sql`threads.thread_id = ${thread_id}`, ...seen])}`);
      if (!thread) return undefined;
      return db.get(sql`select count(*) as ${number('runs')}, ${SUMS} from (
        select run_id from runs where thread_id = ${thread_id} order by created_at desc limit ${RUNS_OF_THREAD}) newest
        join usage_runs on usage_runs.run_id = newest.run_id`);
    },
  };
}

const total = (name: keyof UsageSums) => sql`coalesce(sum(${raw(name)}), 0) as ${number(name)}`;

const SUMS = sql`${total('calls')}, ${total('unpriced_calls')}, ${total('tokens_in')}, ${total('tokens_cached')},
  ${total('tokens_out')}, ${total('cost_nanos')}`;
