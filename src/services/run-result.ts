import { toJson } from '../core/json.ts';
import type { Frame } from '../events/frame.ts';
import { isLoss } from '../events/lost-events.ts';
import type { RunError, Thread } from '../schemas/threads.ts';
import { isCancel } from './cancel.ts';

/**
 * What `wait` and `join` answer, as JSON text (CONTRACT §4), from the frames of the run: the last `values`, or its
 * error. Undefined when the frames hold neither, or lack those that came last.
 */
export async function resultOf(frames: AsyncIterable<Frame>): Promise<string | undefined> {
  let values: string | undefined;
  let error: string | undefined;
  let asked: Asked[] = [];
  for await (const frame of frames) {
    if (isLoss(frame)) {
      // What came before may be outdated by what is lost.
      values = undefined;
      asked = [];
    } else if (frame.event === 'values') values = frame.data;
    else if (frame.event === 'error') error = frame.data;
    else if (frame.event.split('|')[0] === 'input.requested') asked.push(JSON.parse(frame.data) as Asked);
  }
  const failed = error !== undefined && !isCancel(JSON.parse(error) as RunError);
  if (failed) return `{"__error__":${error}}`;
  return asked.length === 0 ? values : withInterrupts(values, asked);
}

/** What a run of event streaming asks; of others it is in the values already. */
interface Asked {
  readonly interrupt_id: string;
  readonly value: unknown;
}

function withInterrupts(values: string | undefined, asked: readonly Asked[]): string {
  const state = JSON.parse(values ?? '{}') as object;
  return toJson({ ...state, __interrupt__: asked.map(({ interrupt_id: id, value }) => ({ value, id })) });
}

/** The same from a thread, for a run whose frames are gone or hold no values. */
export function resultOfThread(thread: Thread | undefined): string {
  if (!thread) return '{}';
  if (thread.status === 'error' && thread.error) return toJson({ __error__: thread.error });
  const interrupts = Object.values(thread.interrupts ?? {}).flat();
  if (thread.status === 'interrupted' && interrupts.length > 0) return toJson({ __interrupt__: interrupts });
  return toJson(thread.values ?? {});
}
