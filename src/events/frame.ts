import { toJson } from '../core/json.ts';
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
