import { Unreadable } from './encryption/cipher.ts';

/** A channel's value, or a task's write, as far as it was read. */
interface Stored {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly damage?: string | undefined;
}

/**
 * Why a stored value cannot be read, as the end of a sentence: `its JSON is damaged`. Undefined when it is sound: then
 * only the graph's own library may still refuse it. Reads all of the value.
 */
export function damageOf({ type, bytes, damage }: Stored): string | undefined {
  if (damage !== undefined) return damage;
  if (type === 'bytes') return undefined;
  if (type !== 'json') return `it is of the unknown type ${JSON.stringify(type)}`;
  if (bytes.length === 0) return 'nothing was stored';
  try {
    JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
    return undefined;
  } catch {
    return 'its JSON is damaged';
  }
}

/** What `open` gives, or `otherwise` with the damage when it is sealed and cannot be opened. */
export function orDamage<Value>(
  otherwise: Value,
  open: () => Value,
): { readonly value: Value; readonly damage?: string } {
  try {
    return { value: open() };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { value: otherwise, damage: 'it cannot be decrypted' };
  }
}
