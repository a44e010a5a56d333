import { toJson } from '../core/json.ts';
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

/**
 * A run made by event streaming (CONTRACT §7) logs the events of that protocol: the frame's name is this and their
 * method, its data their `params`. They need no other work for each follower than to be numbered.
 */
export const PROTOCOL_EVENT = 'v2:';

interface ProtocolParams {
  readonly namespace: readonly string[];
  readonly data: unknown;
}

/** The frame as the older streams know it, `mode|namespace` and the data alone; others are as they were. */
export function plainFrame(frame: Frame): Frame {
  if (!frame.event.startsWith(PROTOCOL_EVENT)) return frame;
  const { namespace, data } = JSON.parse(frame.data) as ProtocolParams;
  const method = frame.event.slice(PROTOCOL_EVENT.length);
  return { seq: frame.seq, event: [method, ...namespace].join('|'), data: toJson(data) };
}
