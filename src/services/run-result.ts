import { toJson } from '../core/json.ts';
import type { Frame } from '../events/frame.ts';
import type { RunError, Thread } from '../schemas/threads.ts';
import { isCancel } from './cancel.ts';

/**
 * What `wait` and `join` answer, as JSON text (CONTRACT §4), from the frames of the run: the last `values`, or its
 * error. Undefined when the frames hold neither.
 */
export async function resultOf(frames: AsyncIterable<Frame>): Promise<string | undefined> {
  let values: string | undefined;
  let error: string | undefined;
  for await (const frame of frames) {
    if (frame.event === 'values') values = frame.data;
    else if (frame.event === 'error') error = frame.data;
  }
  if (error === undefined || isCancel(JSON.parse(error) as RunError)) return values;
  return `{"__error__":${error}}`;
}

/** The same from a thread, for a run whose frames are gone or hold no values. */
export function resultOfThread(thread: Thread | undefined): string {
  if (!thread) return '{}';
  if (thread.status === 'error' && thread.error) return toJson({ __error__: thread.error });
  const interrupts = Object.values(thread.interrupts ?? {}).flat();
  if (thread.status === 'interrupted' && interrupts.length > 0) return toJson({ __interrupt__: interrupts });
  return toJson(thread.values ?? {});
}
