import { userModule } from './user-module.ts';

/**
 * How a graph's values become bytes and values again, as LangGraph's `SerializerProtocol` has it. Each copy of the
 * library brings its own, which revives messages as the classes of the `@langchain/core` beside it.
 */
export interface Serde {
  dumpsTyped(value: unknown): Promise<[type: string, bytes: Uint8Array]>;
  loadsTyped(type: string, bytes: Uint8Array | string): Promise<unknown>;
}

/** What `@langchain/langgraph` and `@langchain/langgraph-checkpoint` both export; the serialiser itself neither does. */
interface SaverLibrary {
  readonly MemorySaver: new () => { readonly serde: Serde };
}

const serdes = new Map<string, Promise<Serde>>();

/** The serialiser of the LangGraph that a graph in `folder` imports, else of the server's own installation. */
export function projectSerde(folder: string): Promise<Serde> {
  const found =
    serdes.get(folder) ?? loadSerde(() => userModule<SaverLibrary>(folder, '@langchain/langgraph'));
  serdes.set(folder, found);
  return found;
}

let own: Promise<Serde> | undefined;

/** The serialiser of the server's own installation, which an image without LangGraph does not have. */
export const OWN_SERDE: Serde = {
  dumpsTyped: async (value) => (await ownSerde()).dumpsTyped(value),
  loadsTyped: async (type, bytes) => (await ownSerde()).loadsTyped(type, bytes),
};

function ownSerde(): Promise<Serde> {
  own ??= loadSerde(() => import('@langchain/langgraph-checkpoint'));
  return own;
}

async function loadSerde(load: () => Promise<SaverLibrary>): Promise<Serde> {
  const { MemorySaver } = await load();
  return new MemorySaver().serde;
}

/** Every record that is more than JSON has this key; LangGraph's reviver copies all else as it is, 10 times slower. */
const MARK = '"lc"';

export async function revive(serde: Serde, type: string, bytes: Uint8Array): Promise<unknown> {
  if (type !== 'json') return serde.loadsTyped(type, bytes);
  const text = textOf(bytes);
  return text.includes(MARK) ? serde.loadsTyped(type, text) : JSON.parse(text);
}

/** The JSON text of plain data, whatever else may be in it. */
export async function dumpText(serde: Serde, value: object): Promise<string> {
  const [, bytes] = await serde.dumpsTyped(value);
  return textOf(bytes);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
