import { errorParts, toError } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { lazy } from '../../core/lifecycle.ts';
import { fromUtf8 } from '../../core/text.ts';
import { importUserModule } from '../project/user-module.ts';
import { plainJson } from './plain-json.ts';
import { reviveMessages } from './revive-messages.ts';
import { UnreadableValueError } from './unreadable-values.ts';

/**
 * LangGraph's `SerializerProtocol`. Each copy of the library brings its own, which revives messages as the classes of the
 * `@langchain/core` installed with it.
 */
export interface Serde {
  dumpsTyped(value: unknown): Promise<[type: string, bytes: Uint8Array]>;
  loadsTyped(type: string, bytes: Uint8Array | string): Promise<unknown>;
}

/** Exported by `@langchain/langgraph` and `@langchain/langgraph-checkpoint`; neither exports the serialiser itself. */
interface SaverLibrary {
  readonly MemorySaver: new () => { readonly serde: Serde };
}

const serdes = new Map<string, Serde>();

/** Serialiser of the LangGraph that a graph in `folder` imports, otherwise of the server's own installation. */
export function projectSerde(folder: string): Serde {
  const found =
    serdes.get(folder) ?? serdeOf(() => importUserModule<SaverLibrary>(folder, '@langchain/langgraph'));
  serdes.set(folder, found);
  return found;
}

/** Serialiser of the server's own installation; `undefined` in an image without LangGraph. */
export const SERVER_SERDE: Serde = serdeOf(() => import('@langchain/langgraph-checkpoint'));

/** Sets a checkpointer's serialiser to that of the graph's own library. */
export function useSerde(checkpointer: unknown, serde: Serde): void {
  if (isObject(checkpointer) && 'serde' in checkpointer) checkpointer.serde = serde;
}

/** Loads the library on first use; later calls do not wait for it. */
function serdeOf(load: () => Promise<SaverLibrary>): Serde {
  let loaded: Serde | undefined;
  const ready = lazy(async () => {
    const { MemorySaver } = await load();
    loaded = new MemorySaver().serde;
    return loaded;
  });
  return {
    dumpsTyped: (value) => loaded?.dumpsTyped(value) ?? ready().then((serde) => serde.dumpsTyped(value)),
    loadsTyped: (type, bytes) =>
      loaded?.loadsTyped(type, bytes) ?? ready().then((serde) => serde.loadsTyped(type, bytes)),
  };
}

/** In every record that is more than JSON; LangGraph's reviver only copies all others, 10 times slower. */
const LC_MARKER = '"lc"';

export async function revive(serde: Serde, type: string, bytes: Uint8Array): Promise<unknown> {
  return type === 'json' ? reviveText(serde, fromUtf8(bytes)) : serde.loadsTyped(type, bytes);
}

/** The same for JSON text. */
export async function reviveText(serde: Serde, text: string): Promise<unknown> {
  if (!text.includes(LC_MARKER)) return JSON.parse(text);
  const revived = await reviveMessages(serde, JSON.parse(text));
  return revived ? revived.value : serde.loadsTyped('json', text);
}

/** JSON text of an object, whatever values it contains. */
export async function dumpText(serde: Serde, value: object): Promise<string> {
  const plain = plainJson(value);
  if (plain !== undefined) return plain;
  const [, bytes] = await serde.dumpsTyped(value);
  return fromUtf8(bytes);
}

/** A graph put a value into its state that no checkpoint can hold. Ends the run; the last good state remains. */
export class UnstorableValueError extends Error {
  override readonly name = 'UnstorableValueError';
}

/** Written silently by LangGraph's serialiser in place of a whole value that `JSON.stringify` rejects. */
const UNSERIALIZABLE = '[unable to serialize, circular reference is too complex to analyze]';
const UNSERIALIZABLE_BYTES = Buffer.from(JSON.stringify(UNSERIALIZABLE));
const MARK_BYTES = Buffer.from(LC_MARKER);
const utf8 = new TextEncoder();
/** Its encoding of `undefined`, and of data that looks like it. */
const UNDEFINED_BYTES = Buffer.from(JSON.stringify({ lc: 2, type: 'undefined' }));

/**
 * Serialises a channel's value. Throws `UnstorableValueError` if it could not be read back: a function has no JSON
 * form, and the serialiser returns zero bytes for it.
 */
export async function serializeChannel(
  serde: Serde,
  channel: string,
  value: unknown,
): Promise<[type: string, bytes: Uint8Array]> {
  const plain = plainJson(value);
  if (plain !== undefined) return ['json', utf8.encode(plain)];
  let dumped: [string, Uint8Array];
  try {
    dumped = await serde.dumpsTyped(value);
  } catch (thrown) {
    const error = toError(thrown);
    if (error instanceof UnreadableValueError) throw error;
    throw unstorable(channel, errorParts(error).message || 'it cannot be serialised', error);
  }
  const [type, bytes] = dumped;
  const isEmpty = bytes.length === 0 || (value !== undefined && isSame(UNDEFINED_BYTES, bytes));
  if (type === 'json' && isEmpty) throw unstorable(channel, `${kindOf(value)} has no JSON form`);
  if (type === 'json' && value !== UNSERIALIZABLE && isSame(UNSERIALIZABLE_BYTES, bytes)) {
    throw unstorable(channel, 'it cannot be serialised to JSON, as with a BigInt or a toJSON that throws');
  }
  const hasMembers = typeof value === 'object' && value !== null;
  if (type === 'json' && hasMembers && viewOf(bytes).includes(MARK_BYTES) && hasLcMarker(value)) {
    await serde.loadsTyped(type, bytes).catch((cause: unknown) => {
      throw unstorable(channel, 'part of it looks like a LangChain object but is not one', cause);
    });
  }
  return dumped;
}

/** True if plain data contains the serialiser's marker of non-JSON values: the reviver would take it for one. */
function hasLcMarker(value: unknown): boolean {
  const seen = new Set<unknown>();
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || ArrayBuffer.isView(next) || seen.has(next)) continue;
    seen.add(next);
    const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(next));
    if (isPlain && Object.hasOwn(next, 'lc')) return true;
    // One by one: spreading a long list into `push` exceeds the limit of arguments.
    for (const member of next instanceof Map || next instanceof Set ? next : Object.values(next))
      waiting.push(member);
  }
  return false;
}

/** Avoids a copy, which takes 2 ms per megabyte. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Compares the length first: it differs for most values. */
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
