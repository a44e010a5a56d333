import { errorParts, isErrorLike, tryOrUndefined } from '../../core/failure.ts';
import { isObject, toJson } from '../../core/json.ts';
import { cutMiddle } from '../../core/text.ts';
import { isMessage, messageToWire } from '../wire.ts';

/** Limit of what is kept of one value, bytes of JSON. */
const MAX_VALUE_BYTES = 64 * 1024;
/** Levels of a value that are kept. */
const MAX_DEPTH = 32;
/** Where a part of a value was left out. */
const note = (count: number, what: string) => `… (cut, ${count.toLocaleString('en-US')} ${what})`;

/** Characters that may still be written. */
interface Budget {
  left: number;
}

/**
 * JSON of a value of user code, at most `max_bytes`: long texts and lists are cut in the middle, with a note. Costs as much
 * as is kept, however large the value is. Never throws.
 */
export function cutJson(value: unknown, max_bytes = MAX_VALUE_BYTES): string {
  let characters = max_bytes;
  // A character takes up to six bytes: what is too long once it is written is cut again.
  for (let attempt = 0; attempt < 4; attempt++) {
    const json = tryOrUndefined(() => toJson(pruned(value, { left: characters }, [], characters * 0.9)));
    if (json === undefined) return '"(cannot be read)"';
    const bytes = Buffer.byteLength(json);
    if (bytes <= max_bytes) return json;
    characters = Math.floor(characters * (max_bytes / bytes) * 0.9);
  }
  return toJson(note(max_bytes, 'bytes and more'));
}

function pruned(value: unknown, budget: Budget, path: object[], longest = budget.left): unknown {
  budget.left -= 4;
  if (typeof value === 'string') return prunedText(value, budget, path.length === 0 ? budget.left : longest);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (path.includes(value)) return '[Circular]';
  if (path.length >= MAX_DEPTH) return '…';
  path.push(value);
  try {
    return prunedObject(value, budget, path, longest);
  } finally {
    path.pop();
  }
}

function prunedText(text: string, budget: Budget, longest: number): string {
  const cut = cutMiddle(text, Math.max(0, Math.min(budget.left, longest)));
  budget.left -= cut.length;
  return cut;
}

function prunedObject(value: object, budget: Budget, path: object[], longest: number): unknown {
  if (Array.isArray(value)) return prunedList(value, budget, path, longest);
  if (isMessage(value)) return prunedRecord(messageToWire(value), budget, path, longest);
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return pruned(value.toJSON(), budget, path, longest);
  if (value instanceof Map) return prunedEntries(value, budget, path, longest);
  if (value instanceof Set) return prunedList([...value], budget, path, longest);
  if (ArrayBuffer.isView(value)) return `(${value.byteLength.toLocaleString('en-US')} bytes)`;
  if (isErrorLike(value)) return errorParts(value);
  return prunedRecord(value, budget, path, longest);
}

/** The first half of what is kept from the beginning, the rest from the end. */
function prunedList(items: readonly unknown[], budget: Budget, path: object[], longest: number): unknown[] {
  const half = budget.left / 2;
  const first: unknown[] = [];
  const last: unknown[] = [];
  while (first.length < items.length && budget.left > half)
    first.push(pruned(items[first.length], budget, path, longest));
  while (first.length + last.length < items.length && budget.left > 0)
    last.push(pruned(items[items.length - 1 - last.length], budget, path, longest));
  const cut = items.length - first.length - last.length;
  return [...first, ...(cut > 0 ? [note(cut, 'items')] : []), ...last.reverse()];
}

function prunedRecord(record: object, budget: Budget, path: object[], longest: number): unknown {
  function* entries(): Generator<[string, unknown]> {
    // Not all at once: it may have a million members.
    for (const name in record)
      if (Object.hasOwn(record, name)) yield [name, (record as Record<string, unknown>)[name]];
  }
  return prunedEntries(entries(), budget, path, longest);
}

function prunedEntries(
  entries: Iterable<[unknown, unknown]>,
  budget: Budget,
  path: object[],
  longest: number,
): unknown {
  const members: [string, unknown][] = [];
  for (const [name, member] of entries) {
    if (budget.left <= 0) {
      members.push(['…', note(1, 'member and more')]);
      break;
    }
    if (member === undefined || typeof member === 'function') continue;
    const key = cutMiddle(String(name), 1024);
    budget.left -= key.length;
    members.push([key, pruned(member, budget, path, longest)]);
  }
  return Object.fromEntries(members);
}

/** Names of parameters that hold, or may hold, a credential, or how a request is sent. */
const UNKEPT =
  /key|secret|token$|auth|header|credential|password|cookie|signature|client|agent|fetch|config/i;

/** Parameters of a model's call without credentials: plain values only. */
export function plainParameters(
  given: Readonly<Record<string, unknown>>,
  levels = 4,
): Record<string, unknown> {
  const plain = (value: unknown): unknown => {
    if (!isObject(value)) return typeof value === 'function' ? undefined : value;
    const isPlain =
      Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
    return isPlain && levels > 0 ? plainParameters(value, levels - 1) : undefined;
  };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      if (UNKEPT.test(name) || value === undefined || value === null) return [];
      const found = Array.isArray(value) ? value.map(plain) : plain(value);
      return found === undefined ? [] : [[name, found]];
    }),
  );
}
