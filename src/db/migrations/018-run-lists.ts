import type { DialectName } from '../sql.ts';

const ORDERS = `
create index runs_created on runs (created_at, run_id);
create index runs_assistant_created on runs (assistant_id, created_at, run_id);
`;

/** `columns`: with what else is asked of these runs, so that a search reads few of them. */
const failed = (columns: string) => `
create index runs_failed_created on runs ${columns} where status in ('error', 'timeout', 'interrupted');
`;

/**
 * Lists of runs over all threads, newest first (`storage/runs/search.ts`): in the order of creation, of one assistant,
 * and those that did not end well. New entries come last in each, so that inserting a run changes one page of it.
 */
export const runLists: Record<DialectName, string> = {
  sqlite: ORDERS + failed('(created_at, run_id, status, assistant_id, thread_id)'),
  // Only included: as a key column, PostgreSQL would look up threads in it while its statistics are those of few runs.
  postgres: ORDERS + failed('(created_at, run_id) include (status, assistant_id, thread_id)'),
};
