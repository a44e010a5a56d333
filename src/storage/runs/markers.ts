import { isObject } from '../../core/json.ts';
import { raw } from '../../db/sql.ts';
import type { RunKwargs } from '../../schemas/runs.ts';

/**
 * What happens to a run's thread when the run ends. `keep_interrupted`: the thread is deleted unless the run stopped at
 * an interrupt. A run on a client's thread has `keep`.
 */
export type ThreadRetention = 'keep' | 'keep_interrupted' | 'delete';

/** The server's own decisions about a run. Never read from `kwargs`, where a client could set them. */
export interface RunMarkers {
  /** Logs the events of event streaming (CONTRACT §7) instead of those of stream modes. */
  readonly is_event_streaming: boolean;
  readonly is_of_cron: boolean;
  /** A turn of an A2A task. */
  readonly is_of_task: boolean;
  readonly thread_retention: ThreadRetention;
}

/** Columns of a run that was enqueued before they existed: all null. */
type NullableColumns = { readonly [Name in keyof RunMarkers]: null };

type StoredColumns = {
  readonly [Name in keyof RunMarkers]: RunMarkers[Name] extends boolean ? 0 | 1 : RunMarkers[Name];
};

export type RunMarkerColumns = StoredColumns | NullableColumns;

export const MARKER_COLUMNS = raw('is_event_streaming, is_of_cron, is_of_task, thread_retention');

/** `kwargs`: decrypted. */
export function markersOf(columns: RunMarkerColumns, kwargs: RunKwargs): RunMarkers {
  if (columns.thread_retention === null) return markersInKwargs(kwargs);
  const { is_event_streaming, is_of_cron, is_of_task, thread_retention } = columns;
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
