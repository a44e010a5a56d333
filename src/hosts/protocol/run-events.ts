import { z } from 'zod';
import type { CheckpointEvent, SerializedEvent } from '../../graphs/graph.ts';

/**
 * Events of a run, in order, as one list of texts with two for each: its name and its JSON. Texts are checked and unpacked
 * with less work than objects. An empty name comes before the id of a checkpoint.
 */
export const RunEvents = z.array(z.string());

/** Adds an event to a list. */
export function addRunEvent(list: string[], event: SerializedEvent | CheckpointEvent): void {
  if ('checkpoint_id' in event) list.push('', event.checkpoint_id);
  else list.push(event.event, event.json);
}

/** The events of a list. */
export function* runEventsOf(list: readonly string[]): Generator<SerializedEvent | CheckpointEvent> {
  for (let index = 0; index + 1 < list.length; index += 2) {
    const [event, text] = [list[index] as string, list[index + 1] as string];
    yield event === '' ? { checkpoint_id: text } : { event, json: text };
  }
}
