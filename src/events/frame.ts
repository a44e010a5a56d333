/**
 * One entry of a run's event log. `data` is the JSON text that goes on the wire, serialised once.
 * A run's frames are numbered 1..n without gaps (invariant 3).
 */
export interface Frame {
  readonly seq: number;
  /** The SSE event name, such as `values` or `updates|child:<task id>`. */
  readonly event: string;
  readonly data: string;
}

/**
 * The last entry of a log, written in the transaction that writes the run's final status. It marks the end and is
 * never sent; its data is `{"status": …}`.
 */
export const END = '__end__';

export function isEnd(frame: Frame): boolean {
  return frame.event === END;
}
