import { types } from 'node:util';
import { redact, redactCredentials } from './redact.ts';
import { withSourceLocations } from './source-locations.ts';
import { MAX_ERROR_BYTES, truncateText } from './text.ts';

/** Class name and message of an error. */
export interface Failure {
  error: string;
  message: string;
}

/** Limit of a class name, bytes. */
const MAX_NAME_BYTES = 256;
/** Only this prefix of a longer text is read: the limit, with a margin because redaction shortens the text. */
const MAX_READ = 4 * MAX_ERROR_BYTES;
/** Stands for a value that cannot be converted to text. */
const UNREADABLE = 'a value that cannot be read';

/**
 * What a client may see of any thrown value: no stack, no credentials, no paths of this machine, at most
 * `MAX_ERROR_BYTES`. Never throws.
 */
export function publicFailure(thrown: unknown): Failure {
  const { error, message } = errorParts(thrown);
  return { error: failureText(error, MAX_NAME_BYTES), message: failureText(message) };
}

/** Redacts and truncates the error text of a library; `clean` removes what must not be disclosed. */
export function failureText(text: string, max_bytes = MAX_ERROR_BYTES, clean = redact): string {
  if (text.length <= MAX_READ) return truncateText(clean(text), max_bytes);
  return truncateText(clean(withoutCutCredentials(truncated(text, MAX_READ))), max_bytes, text.length);
}

/**
 * Class name and message, unredacted: for values that are not our failures, such as an error in a graph's state. An
 * object with a text in `message` is treated as an error. Never throws.
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
 * The error itself, or for any other value, `undefined` included, an error with its text. The result is safe for
 * `instanceof`, which throws on some values.
 */
export function toError(thrown: unknown): Error {
  // `isNativeError` is not enough: Fastify's errors are functions that inherit from `Error`.
  const inherits = types.isProxy(thrown) ? undefined : tryOrUndefined(() => thrown instanceof Error);
  if (inherits !== undefined && (inherits || types.isNativeError(thrown))) return thrown as Error;
  const { error, message } = errorParts(thrown);
  const stack = isErrorLike(thrown) ? tryOrUndefined(() => thrown.stack as unknown) : undefined;
  const own = typeof stack === 'string' ? stack : `${error}: ${message}`;
  return Object.assign(new Error(message), { name: error, stack: own });
}

/** True for errors of other realms too. */
export function isErrorLike(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  return (
    tryOrUndefined(
      () => value instanceof Error || Object.prototype.toString.call(value) === '[object Error]',
    ) ?? false
  );
}

/** Result of `read`, or `undefined` if it throws: getters and proxies of user code may. */
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

/** Text of any value. Never throws. */
export function anyToText(value: unknown): string {
  if (typeof value === 'string') return value;
  // `String()` of a function is its source code.
  if (typeof value === 'function') return `[function ${String(tryOrUndefined(() => value.name) ?? '')}]`;
  const message = messageOf(value);
  if (message !== undefined) return message;
  const text = tryOrUndefined(() => String(value));
  if (text !== undefined && !text.startsWith('[object ')) return text;
  return tryOrUndefined(() => JSON.stringify(value)) ?? text ?? UNREADABLE;
}

/** Reads the getter once: it may return something else the next time. */
function messageOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const message = tryOrUndefined(() => (value as { message?: unknown }).message);
  return typeof message === 'string' ? message : undefined;
}

/** At most `count` code units, without splitting a surrogate pair. */
function truncated(text: string, count: number): string {
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(count - 1));
  return text.slice(0, isHalf ? count - 1 : count);
}

/** Masks the userinfo at the end of a truncated text: the `@` of its URL may lie beyond the cut. */
function withoutCutCredentials(text: string): string {
  const address = text.lastIndexOf('://') + '://'.length;
  return address < '://'.length || /\s/.test(text.slice(address)) ? text : `${text.slice(0, address)}***`;
}

/** Depth limit of the `cause` chain, which may be circular. */
const MAX_CAUSES = 8;
const FIRST_FRAME = '\n    at ';

/** Stacks of an error and its causes, for the log: bounded, without credentials. Never throws. */
export function errorStack(error: unknown, causes = MAX_CAUSES): string {
  const { head, frames } = stackParts(error);
  const own = bounded(head) + withSourceLocations(bounded(frames));
  const cause = causeOf(error);
  if (!isErrorLike(cause) || causes === 0) return own;
  return `${own}\ncaused by ${errorStack(cause, causes - 1)}`;
}

/**
 * Failure of user code, for the log: the message as clients see it, so that one can be found by the other, with the
 * stack frames.
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

/** Splits a stack at the end of its message: the message may contain lines that look like frames. */
function stackParts(error: unknown): { head: string; frames: string } {
  const { error: name, message } = errorParts(error);
  const stack = isErrorLike(error) ? tryOrUndefined(() => error.stack as unknown) : undefined;
  if (typeof stack !== 'string') return { head: stackHead(name, message), frames: '' };
  // A prefix is enough: searching for a long message is slow.
  const text = stack.indexOf(message.slice(0, 100));
  const frames = stack.indexOf(FIRST_FRAME, text < 0 ? 0 : text + message.length);
  return frames < 0
    ? { head: stack, frames: '' }
    : { head: stack.slice(0, frames), frames: stack.slice(frames) };
}

/** The error, and what caused it, each once, at most `MAX_CAUSES` more. Never throws. */
export function causesOf(error: unknown): unknown[] {
  const causes = [error];
  while (causes.length <= MAX_CAUSES) {
    const cause = causeOf(causes.at(-1));
    if (!isErrorLike(cause) || causes.includes(cause)) break;
    causes.push(cause);
  }
  return causes;
}

/** Lines of the stack after its message, as in the log; empty without a stack. Never throws. */
export function stackFramesOf(error: unknown): string {
  return withSourceLocations(bounded(stackParts(error).frames));
}

/** Not the error itself: some name themselves. */
function causeOf(error: unknown): unknown {
  const cause = isErrorLike(error) ? tryOrUndefined(() => error.cause) : undefined;
  return cause === error ? undefined : cause;
}

function bounded(text: string): string {
  return failureText(text, MAX_ERROR_BYTES, redactCredentials);
}
