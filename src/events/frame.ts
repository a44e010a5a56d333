import { isObject, toJson } from '../core/json.ts';
import { END_EVENT, type Frame } from '../storage/runs/events.ts';

export type { Frame } from '../storage/runs/events.ts';

/**
 * True for the last entry of a log. It is written in the transaction that writes the run's final status, so that
 * the end of the stream and the end of the run are one fact; it is never sent to a client.
 */
export function isEnd(frame: Frame): boolean {
  return frame.event === END_EVENT;
}

/**
 * A run made by event streaming (CONTRACT §7) logs the events of that protocol: the frame's name is this, their method
 * and, after `|`, their namespace; its data their `params`. They need no work for each follower but to be numbered.
 */
export const PROTOCOL_EVENT = 'v2:';

/** The frame as the older streams know it, with the data alone; others are as they were. */
export function plainFrame(frame: Frame): Frame {
  if (!frame.event.startsWith(PROTOCOL_EVENT)) return frame;
  const { data } = JSON.parse(frame.data) as { data: unknown };
  return { seq: frame.seq, event: frame.event.slice(PROTOCOL_EVENT.length), data: toJson(data) };
}

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
export function isLostEvents({ event, data }: Pick<Frame, 'event' | 'data'>): boolean {
  if (event !== 'error') return false;
  const error: unknown = JSON.parse(data);
  return isObject(error) && error['error'] === EVENTS_LOST;
}
