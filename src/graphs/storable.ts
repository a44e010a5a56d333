import { asError, partsOf } from '../core/failure.ts';
import { MARK, type Serde } from './serde.ts';
import { UnreadableValueError } from './unreadable.ts';

/** A graph put something into its state that no checkpoint can hold. Ends the run, and keeps the last good state. */
export class UnstorableValueError extends Error {
  override readonly name = 'UnstorableValueError';
}

/** What LangGraph's serialiser writes, without a word, in place of a whole value that `JSON.stringify` refuses. */
const GIVEN_UP = '[unable to serialize, circular reference is too complex to analyze]';
const GIVEN_UP_BYTES = Buffer.from(JSON.stringify(GIVEN_UP));
const MARK_BYTES = Buffer.from(MARK);
/** What it writes for `undefined`, and for what says so of itself. */
const NOTHING_BYTES = Buffer.from(JSON.stringify({ lc: 2, type: 'undefined' }));

/**
 * The bytes of a channel's value. Throws `UnstorableValueError` for what would not come back: a function has no JSON, and
 * the serialiser makes no bytes at all of it, which nothing can read again.
 */
export async function storableBytes(
  serde: Serde,
  channel: string,
  value: unknown,
): Promise<[type: string, bytes: Uint8Array]> {
  let dumped: [string, Uint8Array];
  try {
    dumped = await serde.dumpsTyped(value);
  } catch (thrown) {
    const error = asError(thrown);
    if (error instanceof UnreadableValueError) throw error;
    throw unstorable(channel, partsOf(error).message || 'it cannot be serialised', error);
  }
  const [type, bytes] = dumped;
  const isNothing = bytes.length === 0 || (value !== undefined && isSame(NOTHING_BYTES, bytes));
  if (type === 'json' && isNothing) throw unstorable(channel, `${kindOf(value)} has no JSON form`);
  if (type === 'json' && value !== GIVEN_UP && isSame(GIVEN_UP_BYTES, bytes)) {
    throw unstorable(channel, 'it cannot be serialised to JSON, as with a BigInt or a toJSON that throws');
  }
  const hasMembers = typeof value === 'object' && value !== null;
  if (type === 'json' && hasMembers && viewOf(bytes).includes(MARK_BYTES) && hasRecord(value)) {
    await serde.loadsTyped(type, bytes).catch((cause: unknown) => {
      throw unstorable(channel, 'part of it looks like a LangChain object but is not one', cause);
    });
  }
  return dumped;
}

/** What plain data can bring with which the serialiser marks what is more than that: it is taken for such, too. */
function hasRecord(value: unknown): boolean {
  const seen = new Set<unknown>();
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next) || seen.has(next)) continue;
    seen.add(next);
    const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(next));
    if (isPlain && Object.hasOwn(next, 'lc')) return true;
    // One by one: so many arguments as a list may have members are too many for a call.
    for (const member of next instanceof Map || next instanceof Set ? next : Object.values(next))
      waiting.push(member);
  }
  return false;
}

/** Without a copy, which takes 2 ms for a megabyte. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** By length first: most values differ in it. */
function isSame(known: Buffer, bytes: Uint8Array): boolean {
  return bytes.length === known.length && known.equals(bytes);
}

function unstorable(channel: string, reason: string, cause?: unknown): UnstorableValueError {
  const detail = `The value of channel "${channel}" cannot be stored: ${reason}.`;
  return new UnstorableValueError(`${detail} Return data from the node, such as text, numbers and lists.`, {
    cause,
  });
}

function kindOf(value: unknown): string {
  return typeof value === 'object' ? 'an object whose toJSON returns nothing' : `a ${typeof value}`;
}
