import { isObject, toJson } from '../../core/json.ts';
import { type Frame, isLostEvents } from '../../events/frame.ts';
import type { RunError, Thread } from '../../schemas/threads.ts';
import { isCancellation } from './cancel.ts';

/**
 * What `wait` and `join` answer, as JSON text (CONTRACT §4), from the frames of the run: the last `values`, or its
 * error. Undefined when the frames hold neither, or lack those that came last.
 */
export async function resultOf(frames: AsyncIterable<Frame>): Promise<string | undefined> {
  let values: string | undefined;
  let error: string | undefined;
  let requested: RequestedInput[] = [];
  for await (const frame of frames) {
    if (isLostEvents(frame)) {
      // What came before may be outdated by what is lost.
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

/** What a run of event streaming asks; of others it is in the values already. */
interface RequestedInput {
  readonly interrupt_id: string;
  readonly value: unknown;
}

function withInterrupts(values: string | undefined, requested: readonly RequestedInput[]): string {
  const state = JSON.parse(values ?? '{}') as object;
  return toJson({ ...state, __interrupt__: requested.map(({ interrupt_id: id, value }) => ({ value, id })) });
}

/** The same from a thread, for a run whose frames are gone or hold no values. */
export function resultOfThread(thread: Thread | undefined): string {
  if (!thread) return '{}';
  if (thread.status === 'error' && thread.error) return toJson({ __error__: thread.error });
  const interrupts = Object.values(thread.interrupts ?? {}).flat();
  if (thread.status === 'interrupted' && interrupts.length > 0) return toJson({ __interrupt__: interrupts });
  return toJson(thread.values ?? {});
}

/** Why a run failed, in one line, from the data of its `error` event. */
export function runErrorMessage(error: unknown): string {
  if (!isObject(error)) return 'The run failed.';
  return `${error['error'] ?? 'Error'}: ${error['message'] ?? 'the run failed'}`;
}
