import { isObject } from '../../core/json.ts';
import { raw } from '../../db/sql.ts';
import type { RunKwargs } from '../../schemas/runs.ts';

/**
 * What becomes of a run's thread when the run ends. `keep_interrupted`: it goes, unless the run stopped at an interrupt.
 * A run on a thread of a client keeps it.
 */
export type ThreadRetention = 'keep' | 'keep_interrupted' | 'delete';

/** What the server itself decides about a run. Never read from `kwargs`, where a client could write it. */
export interface RunMarkers {
  /** Logs the events of event streaming (CONTRACT §7) instead of those of stream modes. */
  readonly is_event_streaming: boolean;
  readonly is_of_cron: boolean;
  /** A turn of an A2A task. */
  readonly is_of_task: boolean;
  readonly thread_retention: ThreadRetention;
}

/** Of the row of a run that was enqueued before the columns were there: all null. */
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

/** As servers before migration 013 kept them. Such a run may have been enqueued for a time years ahead. */
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
