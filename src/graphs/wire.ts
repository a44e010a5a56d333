import { errorParts, isErrorLike } from '../core/failure.ts';
import { isObject } from '../core/json.ts';

/** A LangChain message by shape: the user's project brings its own copy of the class. */
export interface Message {
  readonly id?: string;
  readonly lc_kwargs: Record<string, unknown>;
  _getType(): string;
  /** Only chunks of a streamed message have it. */
  concat?(next: Message): Message;
}

export function isMessage(value: unknown): value is Message {
  return isObject(value) && typeof value._getType === 'function' && isObject(value.lc_kwargs);
}

/**
 * A message on the wire: its fields flat next to `type` (`ai`, `human`, `tool`, …). `type` is given where a chunk must
 * differ from a message (`AIMessageChunk`, contract §5 messages-tuple).
 */
export function messageToWire(message: Message, type = message._getType()): Record<string, unknown> {
  return flatMessage(message, type, []);
}

/** Class of a chunk, such as `AIMessageChunk`; type of a whole message, such as `ai`. */
export function chunkType(message: Message): string {
  if (message.concat === undefined) return message._getType();
  return (message.constructor as { lc_name?(): string }).lc_name?.() ?? message._getType();
}

/** Messages that were converted already: several states may hold the same ones, which nothing changes meanwhile. */
export type ConvertedMessages = WeakMap<object, Record<string, unknown>>;

/**
 * The value as plain JSON data: messages flat, maps as objects, sets as arrays, errors without their stack. Parts that
 * are JSON already are not copied; most states are returned as they are.
 */
export function toWire(value: unknown, converted?: ConvertedMessages): unknown {
  return convert(value, [], converted);
}

/** `path`: the ancestors of the value; a circular value has no JSON form. */
function convert(value: unknown, path: object[], converted?: ConvertedMessages): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (path.includes(value)) return '[Circular]';
  path.push(value);
  try {
    return convertObject(value, path, converted);
  } finally {
    path.pop();
  }
}

function convertObject(value: object, path: object[], converted?: ConvertedMessages): unknown {
  if (Array.isArray(value)) return convertArray(value, path, converted);
  if (isMessage(value)) {
    const flat = converted?.get(value) ?? flatMessage(value, value._getType(), path);
    converted?.set(value, flat);
    return flat;
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return convert(value.toJSON(), path);
  if (value instanceof Map) return convert(Object.fromEntries(value), path);
  if (value instanceof Set) return convert([...value], path);
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (isErrorLike(value)) return errorParts(value);
  return convertRecord(value as Record<string, unknown>, path, converted);
}

function convertArray(items: unknown[], path: object[], converted?: ConvertedMessages): unknown[] {
  let changed: unknown[] | undefined;
  for (let index = 0; index < items.length; index += 1) {
    const item = convert(items[index], path, converted);
    if (item === items[index]) continue;
    changed ??= [...items];
    changed[index] = item;
  }
  return changed ?? items;
}

function convertRecord(
  record: Record<string, unknown>,
  path: object[],
  converted?: ConvertedMessages,
): Record<string, unknown> {
  let changed: Map<string, unknown> | undefined;
  for (const key of Object.keys(record)) {
    const item = convert(record[key], path, converted);
    if (item === record[key]) continue;
    changed ??= new Map(Object.entries(record));
    changed.set(key, item);
  }
  // From entries: assigning a key `__proto__` would replace the prototype instead.
  return changed ? Object.fromEntries(changed) : record;
}

/** The constructor fields of the message, read from the message itself, which has later changes. */
function flatMessage(message: Message, type: string, path: object[]): Record<string, unknown> {
  const flat: Record<string, unknown> = {};
  for (const key of Object.keys(message.lc_kwargs)) {
    const field =
      key in message ? (message as unknown as Record<string, unknown>)[key] : message.lc_kwargs[key];
    flat[snakeCase(key)] = convert(field, path);
  }
  if (message.id !== undefined) flat.id = message.id;
  flat.type = type;
  return flat;
}

function snakeCase(key: string): string {
  return /[A-Z]/.test(key) ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key;
}
