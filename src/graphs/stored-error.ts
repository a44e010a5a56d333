import { cutText, MAX_ERROR_BYTES } from '../core/cut-text.ts';
import { textOf } from '../core/failure.ts';
import { isObject } from '../core/json.ts';

/** LangGraph's name for the channel of what a task threw. */
export const ERROR_CHANNEL = '__error__';

/**
 * What LangGraph copies of an error into a checkpoint, as bounded text: the two may be anything, and a checkpoint that
 * cannot be written would hide why the run failed. Nothing else is taken out, for a graph's own handlers may read it.
 */
export function storedError(copied: unknown): unknown {
  if (!isObject(copied)) return copied;
  return { ...copied, message: stored(copied['message']), name: stored(copied['name']) };
}

function stored(part: unknown): string | undefined {
  return part === undefined ? undefined : cutText(textOf(part), MAX_ERROR_BYTES);
}
