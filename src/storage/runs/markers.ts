import type { Rows } from '../../db/column-types.ts';
import { columns } from '../../db/columns.ts';
import type { RowOf } from '../../db/sql.ts';

/**
 * What happens to a run's thread when the run ends. `keep_interrupted`: the thread is deleted unless the run stopped at
 * an interrupt. A run on a client's thread has `keep`.
 */
export type ThreadRetention = Rows['runs']['thread_retention'];

/** The server's own decisions about a run. Never read from `kwargs`, where a client could set them. */
export interface RunMarkers {
  /** Logs the events of event streaming (contract §7) instead of those of stream modes. */
  readonly is_event_streaming: boolean;
  readonly is_of_cron: boolean;
  readonly thread_retention: ThreadRetention;
}

export const MARKER_COLUMNS = columns('runs', 'is_event_streaming, is_of_cron, thread_retention');

export function markersOf(row: RowOf<typeof MARKER_COLUMNS>): RunMarkers {
  return {
    is_event_streaming: row.is_event_streaming === 1,
    is_of_cron: row.is_of_cron === 1,
    thread_retention: row.thread_retention,
  };
}
