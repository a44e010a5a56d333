import { types } from 'node:util';
import { redact, redactCredentials } from './redact.ts';
import { MAX_ERROR_BYTES, truncateText } from './text.ts';

/** The class of an error and its text. */
export interface Failure {
  error: string;
  message: string;
}

/** A class is named in a word, in bytes. */
const MAX_NAME_BYTES = 256;
/** Of a longer text no more is looked at: what is kept of it, and a margin for what redaction makes shorter. */
const MAX_READ = 4 * MAX_ERROR_BYTES;
/** For what cannot even be turned into text. */
const UNREADABLE = 'a value that cannot be read';

/**
 * What a client may know of a failure, whatever was thrown: no stack, no credentials, no place on this machine, and at
 * most `MAX_ERROR_BYTES`. Never throws.
 */
export function publicFailure(thrown: unknown): Failure {
  const { error, message } = errorParts(thrown);
  return { error: failureText(error, MAX_NAME_BYTES), message: failureText(message) };
}

/** The same for the text of a failure that a library has written; `clean` takes out what must not be told. */
export function failureText(text: string, max_bytes = MAX_ERROR_BYTES, clean = redact): string {
  if (text.length <= MAX_READ) return truncateText(clean(text), max_bytes);
  return truncateText(clean(withoutCutCredentials(truncated(text, MAX_READ))), max_bytes, text.length);
}

/**
 * Class and text of a value that is no failure of ours to hide, such as an error in a graph's state. An object that has
 * a text in `message` is told as an error is. Never throws.
 */
export function errorParts(thrown: unknown): Failure {
  if (isErrorLike(thrown)) {
    const message = tryOrUndefined(() => thrown.message as unknown);
    return {
      error: nameOf(thrown) ?? classOf(thrown),
      message: message === undefined ? '' : anyToText(message),
    };
  }
  const message = messageOf(thrown);
  if (message === undefined) return { error: 'Error', message: anyToText(thrown) };
  return { error: nameOf(thrown) ?? 'Error', message };
}

/**
 * The error itself when it is one; for any other value, `undefined` included, an error with its text. What comes out
 * can be asked for its class, which some values answer by throwing.
 */
export function toError(thrown: unknown): Error {
  // Not every error is made by the engine: Fastify's are functions that inherit from `Error`.
  const inherits = types.isProxy(thrown) ? undefined : tryOrUndefined(() => thrown instanceof Error);
  if (inherits !== undefined && (inherits || types.isNativeError(thrown))) return thrown as Error;
  const { error, message } = errorParts(thrown);
  const stack = isErrorLike(thrown) ? tryOrUndefined(() => thrown.stack as unknown) : undefined;
  const own = typeof stack === 'string' ? stack : `${error}: ${message}`;
  return Object.assign(new Error(message), { name: error, stack: own });
}

/** Errors also of another realm. */
export function isErrorLike(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  return (
    tryOrUndefined(
      () => value instanceof Error || Object.prototype.toString.call(value) === '[object Error]',
    ) ?? false
  );
}

/** What `read` returns, or undefined when it throws: getters and proxies of user code may. */
export function tryOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function nameOf(thrown: unknown): string | undefined {
  const name = tryOrUndefined(() => (thrown as { name?: unknown }).name);
  return typeof name === 'string' && name !== '' && name !== 'Error' ? name : undefined;
}

function classOf(error: Error): string {
  const name = tryOrUndefined(() => error.constructor.name as unknown);
  return typeof name === 'string' && name !== '' ? name : 'Error';
}

/** Any value as text. Never throws. */
export function anyToText(value: unknown): string {
  if (typeof value === 'string') return value;
  // Its text would be its source.
  if (typeof value === 'function') return `[function ${String(tryOrUndefined(() => value.name) ?? '')}]`;
  const message = messageOf(value);
  if (message !== undefined) return message;
  const text = tryOrUndefined(() => String(value));
  if (text !== undefined && !text.startsWith('[object ')) return text;
  return tryOrUndefined(() => JSON.stringify(value)) ?? text ?? UNREADABLE;
}

/** Asked once: a getter may say something else the next time. */
function messageOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const message = tryOrUndefined(() => (value as { message?: unknown }).message);
  return typeof message === 'string' ? message : undefined;
}

/** So many code units, or one less where a character would be cut in two. */
function truncated(text: string, count: number): string {
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(count - 1));
  return text.slice(0, isHalf ? count - 1 : count);
}

/** A text that was cut, without the user and password of an address whose `@` may be behind the cut. */
function withoutCutCredentials(text: string): string {
  const address = text.lastIndexOf('://') + '://'.length;
  return address < '://'.length || /\s/.test(text.slice(address)) ? text : `${text.slice(0, address)}***`;
}

/** Causes of causes that are told; they may go in a circle. */
const MAX_CAUSES = 8;
const FIRST_FRAME = '\n    at ';

/** An error's stack and those of its causes for the log: bounded, without credentials. Never throws. */
export function errorStack(error: unknown, causes = MAX_CAUSES): string {
  const { head, frames } = stackParts(error);
  const own = bounded(head) + bounded(frames);
  const cause = causeOf(error);
  if (!isErrorLike(cause) || causes === 0) return own;
  return `${own}\ncaused by ${errorStack(cause, causes - 1)}`;
}

/**
 * A failure of user code for the log: its text as clients read it, so that one can be found by the other, and the places
 * where it was thrown.
 */
export function failureForLog(failure: unknown, causes = MAX_CAUSES): Error {
  const { error, message } = publicFailure(failure);
  const cause = causeOf(failure);
  const because = isErrorLike(cause) && causes > 0 ? { cause: failureForLog(cause, causes - 1) } : {};
  const logged = new Error(message, because);
  return Object.assign(logged, {
    name: error,
    stack: stackHead(error, message) + stackParts(failure).frames,
  });
}

function stackHead(name: string, message: string): string {
  return message === '' ? name : `${name}: ${message}`;
}

/** The stack, parted where its text ends: in the text there may be lines that look like frames. */
function stackParts(error: unknown): { head: string; frames: string } {
  const { error: name, message } = errorParts(error);
  const stack = isErrorLike(error) ? tryOrUndefined(() => error.stack as unknown) : undefined;
  if (typeof stack !== 'string') return { head: stackHead(name, message), frames: '' };
  // Its beginning is enough: looking for all of a long text may take long.
  const text = stack.indexOf(message.slice(0, 100));
  const frames = stack.indexOf(FIRST_FRAME, text < 0 ? 0 : text + message.length);
  return frames < 0
    ? { head: stack, frames: '' }
    : { head: stack.slice(0, frames), frames: stack.slice(frames) };
}

function causeOf(error: unknown): unknown {
  return isErrorLike(error) ? tryOrUndefined(() => error.cause) : undefined;
}

function bounded(text: string): string {
  return failureText(text, MAX_ERROR_BYTES, redactCredentials);
}
