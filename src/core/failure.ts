import { types } from 'node:util';
import { cutText, MAX_ERROR_BYTES } from './cut-text.ts';
import { redact } from './redact.ts';

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
  const { error, message } = partsOf(thrown);
  return { error: failureText(error, MAX_NAME_BYTES), message: failureText(message) };
}

/** The same for the text of a failure that a library has written; `clean` takes out what must not be told. */
export function failureText(text: string, max_bytes = MAX_ERROR_BYTES, clean = redact): string {
  if (text.length <= MAX_READ) return cutText(clean(text), max_bytes);
  return cutText(clean(closed(firstOf(text, MAX_READ))), max_bytes, text.length);
}

/**
 * Class and text of a value that is no failure of ours to hide, such as an error in a graph's state. An object that has
 * a text in `message` is told as an error is. Never throws.
 */
export function partsOf(thrown: unknown): Failure {
  if (isErrorLike(thrown)) {
    const message = safely(() => thrown.message as unknown);
    return {
      error: nameOf(thrown) ?? classOf(thrown),
      message: message === undefined ? '' : textOf(message),
    };
  }
  const message = messageOf(thrown);
  if (message === undefined) return { error: 'Error', message: textOf(thrown) };
  return { error: nameOf(thrown) ?? 'Error', message };
}

/**
 * The error itself when it is one; for any other value, `undefined` included, an error with its text. What comes out
 * can be asked for its class, which some values answer by throwing.
 */
export function asError(thrown: unknown): Error {
  // Not every error is made by the engine: Fastify's are functions that inherit from `Error`.
  const inherits = types.isProxy(thrown) ? undefined : safely(() => thrown instanceof Error);
  if (inherits !== undefined && (inherits || types.isNativeError(thrown))) return thrown as Error;
  const { error, message } = partsOf(thrown);
  const stack = isErrorLike(thrown) ? safely(() => thrown.stack as unknown) : undefined;
  const own = typeof stack === 'string' ? stack : `${error}: ${message}`;
  return Object.assign(new Error(message), { name: error, stack: own });
}

/** Errors also of another realm. */
export function isErrorLike(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  return (
    safely(() => value instanceof Error || Object.prototype.toString.call(value) === '[object Error]') ??
    false
  );
}

/** What `read` returns, or undefined when it throws: getters and proxies of user code may. */
export function safely<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function nameOf(thrown: unknown): string | undefined {
  const name = safely(() => (thrown as { name?: unknown }).name);
  return typeof name === 'string' && name !== '' && name !== 'Error' ? name : undefined;
}

function classOf(error: Error): string {
  const name = safely(() => error.constructor.name as unknown);
  return typeof name === 'string' && name !== '' ? name : 'Error';
}

/** Any value as text. Never throws. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  // Its text would be its source.
  if (typeof value === 'function') return `[function ${String(safely(() => value.name) ?? '')}]`;
  const message = messageOf(value);
  if (message !== undefined) return message;
  const text = safely(() => String(value));
  if (text !== undefined && !text.startsWith('[object ')) return text;
  return safely(() => JSON.stringify(value)) ?? text ?? UNREADABLE;
}

/** Asked once: a getter may say something else the next time. */
function messageOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const message = safely(() => (value as { message?: unknown }).message);
  return typeof message === 'string' ? message : undefined;
}

/** So many code units, or one less where a character would be cut in two. */
function firstOf(text: string, count: number): string {
  const isHalf = /[\ud800-\udbff]/.test(text.charAt(count - 1));
  return text.slice(0, isHalf ? count - 1 : count);
}

/** A text that was cut, without the user and password of an address whose `@` may be behind the cut. */
function closed(text: string): string {
  const address = text.lastIndexOf('://') + '://'.length;
  return address < '://'.length || /\s/.test(text.slice(address)) ? text : `${text.slice(0, address)}***`;
}
