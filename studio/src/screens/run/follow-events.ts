import type { Schemas } from '../../api/client.ts';
import { runEvents } from '../../api/run-events.ts';

/** An event of a run as it came. */
export interface RunEvent {
  /** Place in the stream, from 1. */
  readonly number: number;
  /** Mode of the stream, such as `values`; `metadata`, `error` and `end` come in every mode. */
  readonly mode: string;
  /** The subgraph that emitted it, without the ids of its tasks; empty for the graph itself. */
  readonly from: string;
  /** Text of the JSON value. */
  readonly data: string;
  readonly id: string | undefined;
  /** When it arrived here, epoch ms. */
  readonly at: number;
}

/** Older events are dropped: a page cannot hold a run of a day. */
export const MAX_EVENTS = 20_000;

/** Calls `onEvent` with each event of a run, from the first one, until the run has ended. Throws the server's refusal. */
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

/** `updates|investigate:1f1e…|search:2a…` as the mode and the names. */
function nameOf(event: string): Pick<RunEvent, 'mode' | 'from'> {
  const [mode = event, ...levels] = event.split('|');
  return { mode, from: levels.map((level) => level.replace(/:.*$/, '')).join(' / ') };
}
