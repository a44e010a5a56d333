import { MAX_ERROR_BYTES } from './cut-text.ts';
import { failureText, isErrorLike, partsOf, publicFailure, safely } from './failure.ts';
import { withoutCredentials } from './redact.ts';

/** Causes of causes that are told; they may go in a circle. */
const MOST_CAUSES = 8;
const FIRST_FRAME = '\n    at ';

/** An error's stack and those of its causes for the log: bounded, without credentials. Never throws. */
export function stackOf(error: unknown, causes = MOST_CAUSES): string {
  const { head, frames } = stackParts(error);
  const own = bounded(head) + bounded(frames);
  const cause = causeOf(error);
  if (!isErrorLike(cause) || causes === 0) return own;
  return `${own}\ncaused by ${stackOf(cause, causes - 1)}`;
}

/**
 * A failure of user code for the log: its text as clients read it, so that one can be found by the other, and the places
 * where it was thrown.
 */
export function loggedFailure(failure: unknown, causes = MOST_CAUSES): Error {
  const { error, message } = publicFailure(failure);
  const cause = causeOf(failure);
  const because = isErrorLike(cause) && causes > 0 ? { cause: loggedFailure(cause, causes - 1) } : {};
  const logged = new Error(message, because);
  return Object.assign(logged, { name: error, stack: headOf(error, message) + stackParts(failure).frames });
}

function headOf(name: string, message: string): string {
  return message === '' ? name : `${name}: ${message}`;
}

/** The stack, parted where its text ends: in the text there may be lines that look like frames. */
function stackParts(error: unknown): { head: string; frames: string } {
  const { error: name, message } = partsOf(error);
  const stack = isErrorLike(error) ? safely(() => error.stack as unknown) : undefined;
  if (typeof stack !== 'string') return { head: headOf(name, message), frames: '' };
  // Its beginning is enough: looking for all of a long text may take long.
  const text = stack.indexOf(message.slice(0, 100));
  const frames = stack.indexOf(FIRST_FRAME, text < 0 ? 0 : text + message.length);
  return frames < 0
    ? { head: stack, frames: '' }
    : { head: stack.slice(0, frames), frames: stack.slice(frames) };
}

function causeOf(error: unknown): unknown {
  return isErrorLike(error) ? safely(() => error.cause) : undefined;
}

function bounded(text: string): string {
  return failureText(text, MAX_ERROR_BYTES, withoutCredentials);
}
