import { fromUtf8 } from '../../core/text.ts';
import { extendsList, type StoredValue } from '../../storage/checkpoints/delta-blobs.ts';

interface KnownList {
  readonly bytes: Uint8Array;
  readonly items: readonly unknown[];
}

/**
 * Lists of checkpoints that are read newest first. A conversation grows by appending, so that an older list is the
 * beginning of the one before: it gets the same elements, which are revived once. Nothing may change them.
 */
export class SharedLists {
  readonly #known = new Map<string, KnownList>();

  /** The elements of a stored list that begins the last one added of this channel; `undefined` if it does not. */
  find(ns: string, channel: string, { type, bytes, damage }: StoredValue): unknown[] | undefined {
    const known = this.#known.get(keyOf(ns, channel));
    if (!known || type !== 'json' || damage !== undefined) return undefined;
    if (!isSame(bytes, known.bytes) && !extendsList(bytes, known.bytes)) return undefined;
    const items = known.items.slice(0, known.items.length - appended(known.bytes.subarray(bytes.length)));
    // The next one is still shorter: only what lies between them is counted.
    this.#known.set(keyOf(ns, channel), { bytes, items });
    return [...items];
  }

  add(ns: string, channel: string, { type, bytes }: StoredValue, value: unknown): void {
    if (type === 'json' && Array.isArray(value)) this.#known.set(keyOf(ns, channel), { bytes, items: value });
  }
}

function isSame(bytes: Uint8Array, known: Uint8Array): boolean {
  return bytes.length === known.length && Buffer.compare(bytes, known) === 0;
}

/** The number of elements whose text, up to the bracket that closes the list, was appended after a comma. */
function appended(bytes: Uint8Array): number {
  return bytes.length === 0 ? 0 : (JSON.parse(`[${fromUtf8(bytes)}`) as unknown[]).length;
}

function keyOf(ns: string, channel: string): string {
  return `${ns}\n${channel}`;
}
