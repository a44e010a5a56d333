import { isObject } from '../../core/json.ts';
import type { Rows } from '../../db/column-types.ts';
import { columns } from '../../db/columns.ts';
import type { RowOf } from '../../db/sql.ts';
import type { RunKwargs } from '../../schemas/runs.ts';

/**
 * What happens to a run's thread when the run ends. `keep_interrupted`: the thread is deleted unless the run stopped at
 * an interrupt. A run on a client's thread has `keep`.
 */
export type ThreadRetention = NonNullable<Rows['runs']['thread_retention']>;

/** The server's own decisions about a run. Never read from `kwargs`, where a client could set them. */
export interface RunMarkers {
  /** Logs the events of event streaming (contract §7) instead of those of stream modes. */
  readonly is_event_streaming: boolean;
  readonly is_of_cron: boolean;
  /** A turn of an A2A task. */
  readonly is_of_task: boolean;
  readonly thread_retention: ThreadRetention;
}

/** All null in a run that was enqueued before they existed. */
export const MARKER_COLUMNS = columns('runs', 'is_event_streaming, is_of_cron, is_of_task, thread_retention');

/** `kwargs`: decrypted. */
export function markersOf(row: RowOf<typeof MARKER_COLUMNS>, kwargs: RunKwargs): RunMarkers {
  const { is_event_streaming, is_of_cron, is_of_task, thread_retention } = row;
  if (thread_retention === null) return markersInKwargs(kwargs);
  return {
    is_event_streaming: is_event_streaming === 1,
    is_of_cron: is_of_cron === 1,
    is_of_task: is_of_task === 1,
    thread_retention,
  };
}

/** Markers as stored by servers before migration 013. Such a run may be scheduled years ahead. */
function markersInKwargs({ config, temporary, on_completion }: RunKwargs): RunMarkers {
  const { configurable } = config;
  const protocol = configurable['protocol'];
  return {
    is_event_streaming: configurable['__event_streaming_v2'] === true,
    is_of_cron: configurable['cron_id'] !== undefined,
    is_of_task: isObject(protocol) && protocol['name'] === 'a2a',
    thread_retention: temporary ? (on_completion ?? 'delete') : 'keep',
  };
}
