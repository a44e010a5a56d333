import { isObject } from '../core/json.ts';
import type { Frame } from './frame.ts';

/** The error that stands in a stream for events which the log no longer holds. It says nothing of the run itself. */
export const EVENTS_LOST = 'EventsLost';

/**
 * Stands for the events `first` to `last`, and has the number of the last: who resumes after it asks for what follows.
 * `seq` is that number in the run's own log, the others are those that the reader knows.
 */
export function lostEvents(
  seq: number,
  { first, last, of }: { first: number; last: number; of: 'run' | 'thread' },
): Frame {
  const which =
    first === last ? `Event ${last} of this ${of} was` : `Events ${first} to ${last} of this ${of} were`;
  const message = `${which} lost in a failure of the database.`;
  return { seq, event: 'error', data: JSON.stringify({ error: EVENTS_LOST, message }) };
}

/** True for what `lostEvents` makes; the other errors are the run's. */
export function isLoss({ event, data }: Pick<Frame, 'event' | 'data'>): boolean {
  if (event !== 'error') return false;
  const error: unknown = JSON.parse(data);
  return isObject(error) && error['error'] === EVENTS_LOST;
}
