import type { Schemas } from '../../api/client.ts';
import { runEvents } from '../../api/run-events.ts';

/** An event of a run as received. */
export interface RunEvent {
  /** Position in the stream, from 1. */
  readonly number: number;
  /** Stream mode, such as `values`. `metadata`, `error` and `end` come in every mode. */
  readonly mode: string;
  /** The subgraph that emitted it, without task ids. Empty for the root graph. */
  readonly from: string;
  /** JSON text of the value. */
  readonly data: string;
  readonly id: string | undefined;
  /** Time of arrival, epoch ms. */
  readonly at: number;
}

/** Maximum number of events kept. A page cannot hold those of a day-long run. */
export const MAX_EVENTS = 20_000;

/**
 * Calls `onEvent` with each event of a run, from the first one until it ends. Throws `ApiError` if the server rejects the
 * request.
 */
export async function followEvents(
  place: Pick<Schemas['Run'], 'thread_id' | 'run_id'>,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<void> {
  let number = 0;
  for await (const { event, data, id } of runEvents(place, signal)) {
    number += 1;
    onEvent({ ...nameOf(event), number, data, id, at: Date.now() });
  }
}

/** Splits `updates|investigate:1f1e…|search:2a…` into mode and names. */
function nameOf(event: string): Pick<RunEvent, 'mode' | 'from'> {
  const [mode = event, ...levels] = event.split('|');
  return { mode, from: levels.map((level) => level.replace(/:.*$/, '')).join(' / ') };
}
