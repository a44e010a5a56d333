import { END_EVENT } from '../storage/queue/end-log.ts';
import type { Frame } from '../storage/run-events.ts';

export type { Frame } from '../storage/run-events.ts';

/**
 * True for the last entry of a log. It is written in the transaction that writes the run's final status, so that
 * the end of the stream and the end of the run are one fact; it is never sent to a client.
 */
export function isEnd(frame: Frame): boolean {
  return frame.event === END_EVENT;
}
