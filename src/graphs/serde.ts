import { isObject } from '../core/json.ts';
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

const serdes = new Map<string, Serde>();

/** The serialiser of the LangGraph that a graph in `folder` imports, else of the server's own installation. */
export function projectSerde(folder: string): Serde {
  const found = serdes.get(folder) ?? serdeOf(() => userModule<SaverLibrary>(folder, '@langchain/langgraph'));
  serdes.set(folder, found);
  return found;
}

/** The serialiser of the server's own installation, which an image without LangGraph does not have. */
export const OWN_SERDE: Serde = serdeOf(() => import('@langchain/langgraph-checkpoint'));

/** Gives a graph's checkpointer the serialiser of the graph's own library. */
export function useSerde(checkpointer: unknown, serde: Serde): void {
  if (isObject(checkpointer) && 'serde' in checkpointer) checkpointer.serde = serde;
}

/** Loads the library when something is first to be serialised, and has no need to wait from then on. */
function serdeOf(load: () => Promise<SaverLibrary>): Serde {
  let loading: Promise<Serde> | undefined;
  let loaded: Serde | undefined;
  const ready = async () => {
    loading ??= load().then(({ MemorySaver }) => new MemorySaver().serde);
    loaded = await loading;
    return loaded;
  };
  return {
    dumpsTyped: (value) => loaded?.dumpsTyped(value) ?? ready().then((serde) => serde.dumpsTyped(value)),
    loadsTyped: (type, bytes) =>
      loaded?.loadsTyped(type, bytes) ?? ready().then((serde) => serde.loadsTyped(type, bytes)),
  };
}

/** Every record that is more than JSON has this key; LangGraph's reviver copies all else as it is, 10 times slower. */
export const MARK = '"lc"';

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
