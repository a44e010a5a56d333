import type { StoredValue } from '../../storage/checkpoints/delta-blobs.ts';
import { textOf } from './serde.ts';

interface KnownList {
  readonly bytes: Uint8Array;
  readonly items: readonly unknown[];
}

const COMMA = ','.charCodeAt(0);
const CLOSE = ']'.charCodeAt(0);

/**
 * Lists of checkpoints that are read newest first. A conversation grows by appending, so that an older list is the
 * beginning of the one before: it gets the same elements, which are revived once. Nothing may change them.
 */
export class SharedLists {
  readonly #known = new Map<string, KnownList>();

  /** The elements of a stored list that begins the last one added of this channel; `undefined` if it does not. */
  find(ns: string, channel: string, { type, bytes, damage }: StoredValue): unknown[] | undefined {
    const known = this.#known.get(keyOf(ns, channel));
    if (!known || type !== 'json' || damage !== undefined || !beginsList(bytes, known.bytes))
      return undefined;
    if (bytes.length === known.bytes.length) return [...known.items];
    const { length } = JSON.parse(textOf(bytes)) as unknown[];
    return known.items.slice(0, length);
  }

  add(ns: string, channel: string, { type, bytes }: StoredValue, value: unknown): void {
    if (type === 'json' && Array.isArray(value)) this.#known.set(keyOf(ns, channel), { bytes, items: value });
  }
}

/**
 * Both are texts of complete lists. Where that of the first closes, another that is the same up to there can only close
 * too, or continue with a comma.
 */
function beginsList(bytes: Uint8Array, longer: Uint8Array): boolean {
  const end = bytes.length - 1;
  return (
    bytes[end] === CLOSE &&
    (longer[end] === COMMA || longer.length === bytes.length) &&
    Buffer.compare(bytes.subarray(0, end), longer.subarray(0, end)) === 0
  );
}

function keyOf(ns: string, channel: string): string {
  return `${ns}\n${channel}`;
}
