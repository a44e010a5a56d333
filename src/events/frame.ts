import { isObject } from '../core/json.ts';
import type { Frame } from '../storage/runs/events.ts';

export type { Frame } from '../storage/runs/events.ts';

/**
 * Event name prefix of the frames of an event-streaming run (contract §7). The protocol's method follows and, after
 * `|`, its namespace; the data holds its `params`. Per follower, such a frame only needs to be numbered.
 */
export const PROTOCOL_EVENT = 'v2:';

/**
 * Event name prefix of frames that only event streaming reads: what the stream modes of a run leave out. Name and data
 * are otherwise those of a `PROTOCOL_EVENT` frame.
 */
export const PROTOCOL_NOTE = 'note:';

/** Error name of the frame that replaces lost events. The outcome of the run is not affected. */
export const EVENTS_LOST = 'EventsLost';

/**
 * Replaces the events `first` to `last` and carries the number of the last, so that a client resumes after the gap.
 * `seq` is that number in the run's own log; `first` and `last` are numbers in the log that the client reads.
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

/** True for a frame of `lostEvents`; any other error frame is the run's. */
export function isLostEvents({ event, data }: Pick<Frame, 'event' | 'data'>): boolean {
  if (event !== 'error') return false;
  const error: unknown = JSON.parse(data);
  return isObject(error) && error['error'] === EVENTS_LOST;
}
