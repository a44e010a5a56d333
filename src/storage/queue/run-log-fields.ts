import { tryOrUndefined } from '../../core/failure.ts';
import { traceIdOf } from '../../core/trace-ids.ts';
import { columns, nullable } from '../../db/columns.ts';
import type { Reader } from '../../db/db.ts';
import { isOneOf } from '../../db/json.ts';
import { sql } from '../../db/sql.ts';
import { runOf } from '../runs/runs.ts';

/** What every log line about a run has. Of a run that is gone, damaged or cannot be decrypted, some are absent. */
export type RunLogFields = {
  readonly run_id: string;
  readonly thread_id: string;
  readonly assistant_id?: string;
  readonly graph?: string;
  readonly attempt?: number;
  readonly trace_id?: string;
};

/** Runs are read with their input: not all at once. */
const PAGE = 50;

const QUEUED = columns('run_queue', 'q.run_id, q.thread_id, q.attempt');
const ROW = sql`${QUEUED}, ${nullable(columns('runs', 'r.assistant_id, r.kwargs'))}`;

/** Log fields of runs in the queue, by id, for lines about runs that no worker executes. */
export async function runLogFields(
  db: Reader,
  run_ids: readonly string[],
): Promise<ReadonlyMap<string, RunLogFields>> {
  const found = new Map<string, RunLogFields>();
  for (let start = 0; start < run_ids.length; start += PAGE) {
    const rows = await db.all(sql`
      select ${ROW} from run_queue q left join runs r on r.run_id = q.run_id
      where ${isOneOf('q.run_id', run_ids.slice(start, start + PAGE))}`);
    for (const { assistant_id, kwargs, ...queued } of rows)
      found.set(queued.run_id, {
        ...queued,
        ...(assistant_id !== null && { assistant_id }),
        ...(kwargs !== null && placeOf(db, queued.run_id, kwargs)),
      });
  }
  return found;
}

type Kwargs = Parameters<typeof runOf>[1]['kwargs'] & string;

/** Nothing if the input is damaged: no run is left unrecovered for a line of the log. */
function placeOf({ cipher }: Reader, run_id: string, kwargs: Kwargs) {
  return tryOrUndefined(() => {
    const { configurable } = runOf(cipher, { kwargs }).kwargs.config;
    return { graph: String(configurable['graph_id']), trace_id: traceIdOf(run_id, configurable) };
  });
}
