import { isObject, toJson } from '../../core/json.ts';
import { type Frame, isLostEvents } from '../../events/frame.ts';
import type { RunError, Thread } from '../../schemas/threads.ts';
import { isCancellation } from './cancel.ts';

/**
 * JSON response of `wait` and `join` (contract §4) from the run's frames: the last `values`, or its error. `undefined`
 * if the frames hold neither, or if the last ones were lost.
 */
export async function resultOf(frames: AsyncIterable<Frame>): Promise<string | undefined> {
  let values: string | undefined;
  let error: string | undefined;
  let requested: RequestedInput[] = [];
  for await (const frame of frames) {
    if (isLostEvents(frame)) {
      // Values from before the gap may be outdated.
      values = undefined;
      requested = [];
    } else if (frame.event === 'values') values = frame.data;
    else if (frame.event === 'error') error = frame.data;
    else if (frame.event.split('|')[0] === 'input.requested')
      requested.push(JSON.parse(frame.data) as RequestedInput);
  }
  const failed = error !== undefined && !isCancellation(JSON.parse(error) as RunError);
  if (failed) return `{"__error__":${error}}`;
  return requested.length === 0 ? values : withInterrupts(values, requested);
}

/** Interrupt of an event streaming run; other runs report it in `values`. */
interface RequestedInput {
  readonly interrupt_id: string;
  readonly value: unknown;
}

function withInterrupts(values: string | undefined, requested: readonly RequestedInput[]): string {
  const state = JSON.parse(values ?? '{}') as object;
  return toJson({ ...state, __interrupt__: requested.map(({ interrupt_id: id, value }) => ({ value, id })) });
}

/** The result from the thread, for a run whose frames are purged or hold no values. */
export function resultOfThread(thread: Thread | undefined): string {
  if (!thread) return '{}';
  if (thread.status === 'error' && thread.error) return toJson({ __error__: thread.error });
  const interrupts = Object.values(thread.interrupts ?? {}).flat();
  if (thread.status === 'interrupted' && interrupts.length > 0) return toJson({ __interrupt__: interrupts });
  return toJson(thread.values ?? {});
}

/** One-line error message from the data of a run's `error` event. */
export function runErrorMessage(error: unknown): string {
  if (!isObject(error)) return 'The run failed.';
  return `${error['error'] ?? 'Error'}: ${error['message'] ?? 'the run failed'}`;
}
