import { setImmediate as nextTurn } from 'node:timers/promises';
import { nullable, number } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { and, sql } from '../../db/sql.ts';
import { VISIBLE_THREADS, type Visibility, visible } from '../access/visibility.ts';
import { mayMatch } from '../search/access-path.ts';
import { type RunList, threadFilter } from './run-list.ts';

type RunsOfThreads = RunList & { readonly threads: Visibility };

/** True on SQLite for a condition on threads that many runs meet: for each run it would read the thread once more. */
export function isByThread(reader: Reader, list: RunList): list is RunsOfThreads {
  const { few, index, threads } = list;
  return reader.dialect === 'sqlite' && threads !== undefined && !few && index !== 'runs_failed_created';
}

const COUNTED_THREADS = 2000;

/** Counts the runs of each matching thread. In slices, between which other requests are served. */
export async function countByThread(reader: Reader, { threads, own }: RunsOfThreads): Promise<number> {
  const last = await reader.get(sql`select max(row_id) as ${nullable(number('row_id'))} from threads`);
  const matching = and([mayMatch(threadFilter(threads)), visible(VISIBLE_THREADS, threads)]);
  let total = 0;
  for (let from = 0; from < (last?.row_id ?? 0); from += COUNTED_THREADS) {
    const slice = sql`threads.row_id > ${from} and threads.row_id <= ${from + COUNTED_THREADS}`;
    const row = await reader.get(sql`
      select count(*) as ${number('count')} from threads cross join runs on runs.thread_id = threads.thread_id
      where ${and([slice, matching, ...own])}`);
    total += row?.count ?? 0;
    await nextTurn();
  }
  return total;
}
