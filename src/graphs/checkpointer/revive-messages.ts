import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { isObject } from '../../core/json.ts';

/** The library's own way from text to values. */
interface Reviver {
  loadsTyped(type: 'json', text: string): Promise<unknown>;
}

/** A message as LangGraph's serialiser stores it. */
interface MessageRecord {
  readonly lc: 1;
  readonly type: 'constructor';
  readonly id: readonly string[];
  readonly kwargs: Record<string, unknown>;
}

/** How the graph's own copy of LangChain makes a message of this class with these fields. */
interface Shape {
  readonly construct: new (fields: Record<string, unknown>) => object;
  /** Stored field → field of the constructor, in the stored order. */
  readonly fields: readonly (readonly [stored: string, field: string])[];
}

type Shapes = ReadonlyMap<string, Shape>;

/** A project has a few dozen: a class with the fields that its models set. */
const MAX_SHAPES = 500;

/** Facts about each copy of the library; `library`: only it can revive the shape. */
const shapesOf = new WeakMap<Reviver, LRUCache<string, Shape | 'library'>>();

/** Below LangChain's own limit of 50, which counts levels that are not part of a message. */
const MAX_DEPTH = 40;

/** Keys of a message's fields that LangChain's loader interprets, or that no assignment can copy. */
const SPECIAL_KEYS = new Set(['lc', '__lc_escaped__', '__proto__']);

/**
 * Revives a value of plain data and messages as the library's serialiser does, with the same classes, 10 times faster:
 * that one prints and parses each message again, and awaits each of its fields. Returns `undefined` for everything
 * whose revival is not known to be the same: the library must revive it. May change `parsed`.
 */
export async function reviveMessages(
  library: Reviver,
  parsed: unknown,
): Promise<{ readonly value: unknown } | undefined> {
  const messages = new Map<string, MessageRecord>();
  if (!collectMessages(parsed, messages, 0)) return undefined;
  const known = shapesOf.get(library) ?? new LRUCache<string, Shape | 'library'>({ max: MAX_SHAPES });
  shapesOf.set(library, known);
  const shapes = new Map<string, Shape>();
  for (const [key, record] of messages) {
    const shape = known.get(key) ?? (await learn(library, record));
    known.set(key, shape);
    if (shape === 'library') return undefined;
    shapes.set(key, shape);
  }
  return { value: construct(parsed, shapes) };
}

/** Collects a message of each shape. False if only the library can revive the value. */
function collectMessages(value: unknown, messages: Map<string, MessageRecord>, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => collectMessages(item, messages, depth + 1));
  if (!('lc' in value)) {
    return Object.entries(value).every(
      ([key, member]) => key !== '__proto__' && collectMessages(member, messages, depth + 1),
    );
  }
  if (isUndefined(value)) return true;
  if (!isMessageRecord(value)) return false;
  dropUndefined(value.kwargs);
  if (!isPlain(value.kwargs, 0)) return false;
  messages.set(shapeKey(value), value);
  return true;
}

/** The serialiser's encoding of `undefined`. */
function isUndefined(record: object): boolean {
  return 'lc' in record && record.lc === 2 && 'type' in record && record.type === 'undefined';
}

/** As the library, which prints a message again before it makes it. Chunks of streamed answers have such fields. */
function dropUndefined(fields: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(fields)) {
    if (isObject(value) && isUndefined(value)) delete fields[key];
  }
}

function isMessageRecord(record: object): record is MessageRecord {
  const { lc, type, id, kwargs } = record as Partial<MessageRecord>;
  return (
    lc === 1 &&
    type === 'constructor' &&
    Array.isArray(id) &&
    id.length === 3 &&
    id[0] === 'langchain_core' &&
    id[1] === 'messages' &&
    typeof id[2] === 'string' &&
    isObject(kwargs) &&
    !Array.isArray(kwargs) &&
    Object.keys(record).length === 4
  );
}

/** True for data that LangChain's loader copies unchanged. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  return Object.entries(value).every(([key, member]) => !SPECIAL_KEYS.has(key) && isPlain(member, depth + 1));
}

function shapeKey({ id, kwargs }: MessageRecord): string {
  return [id[2], ...Object.keys(kwargs)].join('\n');
}

/** Has the library revive one message of the shape, and adopts its class if that gives the same message. */
async function learn(library: Reviver, record: MessageRecord): Promise<Shape | 'library'> {
  const text = JSON.stringify(record);
  const revived = await library.loadsTyped('json', text).catch(() => undefined);
  if (!isObject(revived) || typeof revived.constructor !== 'function') return 'library';
  const aliases = aliasesOf(revived.constructor);
  const fields = Object.keys(record.kwargs).map((key) => [key, fieldOf(key, aliases)] as const);
  if (!fields.every((pair): pair is [string, string] => pair[1] !== undefined)) return 'library';
  const shape = { construct: revived.constructor as Shape['construct'], fields };
  const made = constructMessage(JSON.parse(text), shape);
  return isDeepStrictEqual(made, revived) ? shape : 'library';
}

/** Stored name → field, of the class and those that it extends, as LangChain's loader combines them. */
function aliasesOf(messageClass: object): Map<string, string> {
  const aliases: Record<string, string> = {};
  for (let current = messageClass; isClass(current); current = Object.getPrototypeOf(current)) {
    Object.assign(aliases, Reflect.get(current.prototype, 'lc_aliases'));
  }
  return new Map(Object.entries(aliases).map(([field, stored]) => [stored, field]));
}

function isClass(value: unknown): value is { prototype: object } {
  return typeof value === 'function' && isObject(value.prototype);
}

/** The constructor's name of a stored field; `undefined` if the library's conversion is not obvious. */
function fieldOf(stored: string, aliases: ReadonlyMap<string, string>): string | undefined {
  const alias = aliases.get(stored);
  if (alias) return alias;
  if (!/^[a-z]+(?:_[a-z]+)*$/.test(stored)) return undefined;
  return stored.replace(/_[a-z]/g, (part) => part.charAt(1).toUpperCase());
}

/** Replaces messages in place. Every one must have a known shape. */
function construct(value: unknown, shapes: Shapes): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) value[index] = construct(item, shapes);
    return value;
  }
  if ('lc' in value) {
    if (isUndefined(value)) return undefined;
    const record = value as unknown as MessageRecord;
    return constructMessage(record, shapes.get(shapeKey(record)) as Shape);
  }
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record)) record[key] = construct(record[key], shapes);
  return record;
}

function constructMessage({ kwargs }: MessageRecord, { construct: MessageClass, fields }: Shape): object {
  const mapped: Record<string, unknown> = {};
  for (const [stored, field] of fields) mapped[field] = kwargs[stored];
  return new MessageClass(mapped);
}
