import { errorParts, isErrorLike, tryOrUndefined } from '../../core/failure.ts';
import { isObject, toJson } from '../../core/json.ts';
import { cutMiddle, cutNote } from '../../core/text.ts';
import { isMessage, messageToWire } from '../wire.ts';

/** Limit of what is kept of one value, bytes of JSON. */
const MAX_VALUE_BYTES = 64 * 1024;
/** Levels of a value that are kept. */
const MAX_DEPTH = 32;

/** A value as it is being cut. */
interface Cutting {
  /** Characters that may still be written. */
  left: number;
  /** Limit of a text within it. */
  readonly longest: number;
  /** The objects around the part in hand. */
  readonly path: object[];
  readonly mark: Mark | undefined;
}

/** Finds what stands for the content of a message that is kept elsewhere, at most `longest` characters of JSON. */
export type Mark = (
  message: object,
  longest: number,
) => { readonly mark: string; readonly characters: number } | undefined;

/**
 * JSON of a value of user code, at most `max_bytes`: long texts and lists are cut in the middle, with a note. Costs as much
 * as is kept, however large the value is. A content with a mark counts as if it was there. Never throws.
 */
export function cutJson(value: unknown, max_bytes = MAX_VALUE_BYTES, mark?: Mark): string {
  let characters = max_bytes;
  // A character takes up to six bytes: what is too long once it is written is cut again.
  for (let attempt = 0; attempt < 4; attempt++) {
    const json = tryOrUndefined(() =>
      toJson(pruned(value, { left: characters, longest: characters * 0.9, path: [], mark })),
    );
    if (json === undefined) return '"(cannot be read)"';
    const bytes = Buffer.byteLength(json);
    if (bytes <= max_bytes) return json;
    characters = Math.floor(characters * (max_bytes / bytes) * 0.9);
  }
  return toJson(cutNote(max_bytes, 'bytes and more'));
}

function pruned(value: unknown, cutting: Cutting): unknown {
  const { path } = cutting;
  cutting.left -= 4;
  if (typeof value === 'string') return prunedText(value, cutting);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (path.includes(value)) return '[Circular]';
  if (path.length >= MAX_DEPTH) return '…';
  path.push(value);
  try {
    return prunedObject(value, cutting);
  } finally {
    path.pop();
  }
}

function prunedText(text: string, cutting: Cutting): string {
  const { left, longest, path } = cutting;
  const cut = cutMiddle(text, Math.max(0, path.length === 0 ? left : Math.min(left, longest)));
  cutting.left -= cut.length;
  return cut;
}

function prunedObject(value: object, cutting: Cutting): unknown {
  if (Array.isArray(value)) return prunedList(value, cutting);
  if (isMessage(value)) return prunedMessage(value, cutting);
  if ('toJSON' in value && typeof value.toJSON === 'function') return pruned(value.toJSON(), cutting);
  if (value instanceof Map) return prunedEntries(value, cutting);
  if (value instanceof Set) return prunedList([...value], cutting);
  if (ArrayBuffer.isView(value)) return `(${value.byteLength.toLocaleString('en-US')} bytes)`;
  if (isErrorLike(value)) return errorParts(value);
  return prunedRecord(value, cutting);
}

function prunedMessage(message: Parameters<typeof messageToWire>[0], cutting: Cutting): unknown {
  const wire = messageToWire(message);
  const found = cutting.mark?.(message, Math.min(cutting.left, cutting.longest));
  if (!found) return prunedRecord(wire, cutting);
  cutting.left -= found.characters;
  const { content: _repeated, ...others } = wire;
  return { content: found.mark, ...prunedRecord(others, cutting) };
}

/** The first half of what is kept from the beginning, the rest from the end. */
function prunedList(items: readonly unknown[], cutting: Cutting): unknown[] {
  const half = cutting.left / 2;
  const first: unknown[] = [];
  const last: unknown[] = [];
  while (first.length < items.length && cutting.left > half) first.push(pruned(items[first.length], cutting));
  while (first.length + last.length < items.length && cutting.left > 0)
    last.push(pruned(items[items.length - 1 - last.length], cutting));
  const cut = items.length - first.length - last.length;
  return [...first, ...(cut > 0 ? [cutNote(cut, 'items')] : []), ...last.reverse()];
}

function prunedRecord(record: object, cutting: Cutting): object {
  function* entries(): Generator<[string, unknown]> {
    // Not all at once: it may have a million members.
    for (const name in record)
      if (Object.hasOwn(record, name)) yield [name, (record as Record<string, unknown>)[name]];
  }
  return prunedEntries(entries(), cutting);
}

function prunedEntries(entries: Iterable<[unknown, unknown]>, cutting: Cutting): object {
  const members: [string, unknown][] = [];
  for (const [name, member] of entries) {
    if (cutting.left <= 0) {
      members.push(['…', cutNote(1, 'member and more')]);
      break;
    }
    if (member === undefined || typeof member === 'function') continue;
    const key = cutMiddle(String(name), 1024);
    cutting.left -= key.length;
    members.push([key, pruned(member, cutting)]);
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
