import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Transaction } from '../../db/db.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { raw, sql } from '../../db/sql.ts';
import { NOW, nowPlus } from '../../db/time.ts';
import type { StoreItem } from '../../schemas/store.ts';
import type { Visibility } from '../access/visibility.ts';
import { encryptRule, encryptValue, type IndexRule } from './encryption.ts';
import { indexedWords, indexWords, WORDS_COLUMN, WORDS_UPDATE, wordsValue } from './full-text.ts';
import { isVisible, prefixOf } from './scope.ts';
import { putVectors, type VectorFormat } from './vectors.ts';

export interface StoreWrite extends Pick<StoreItem, 'namespace' | 'key'> {
  /** `null` deletes. */
  readonly value: Record<string, unknown> | null;
  /** TTL from now; `null` means no expiry. */
  readonly ttl_minutes: number | null;
  readonly index_rule: IndexRule;
  /** Vectors and the index that made them; `undefined` without an index. */
  readonly embedded?: StoreVectors | undefined;
}

/** Unit vectors and the name of their index. */
export interface StoreVectors {
  readonly indexed_by: string;
  readonly vectors: readonly Float32Array[];
}

/** A step of a transaction. Returns `false` if a hidden item exists: the transaction must roll back. */
export type WriteStep = (tx: Transaction) => Promise<boolean>;

/** Upserts an item with its index entries. Preserves `created_at`, unless the stored item has expired. */
export function writeItem(
  cipher: Cipher,
  write: StoreWrite & { readonly value: Record<string, unknown> },
  form: VectorFormat,
  visibility: Visibility | undefined,
): WriteStep {
  const { namespace, key, ttl_minutes, index_rule, embedded } = write;
  const words = indexedWords(cipher, write.value, index_rule);
  const value = encryptValue(cipher, write.value);
  const rule = encryptRule(cipher, index_rule);
  const expiry = ttl_minutes === null ? sql`null` : nowPlus(ttl_minutes * 60_000);
  const statement = sql`
    insert into store_items (namespace, prefix, key, created_at, updated_at, expires_at, ttl_minutes, index_rule,
      indexed_by, value ${WORDS_COLUMN})
    values (${toJson(namespace)}, ${prefixOf(namespace)}, ${key}, ${NOW}, ${NOW}, ${expiry}, ${ttl_minutes}, ${rule},
      ${embedded?.indexed_by ?? null}, ${value} ${wordsValue(namespace, words)})
    on conflict (prefix, key) do update set value = excluded.value, updated_at = excluded.updated_at,
      expires_at = excluded.expires_at, ttl_minutes = excluded.ttl_minutes, index_rule = excluded.index_rule,
      indexed_by = excluded.indexed_by ${WORDS_UPDATE},
      created_at = case when store_items.expires_at <= ${NOW} then excluded.created_at else store_items.created_at end
      where ${isVisible(cipher, visibility) ?? raw('true')} or store_items.expires_at <= ${NOW}
    returning ${columns('store_items', 'item_id')}`;
  return async (tx) => {
    const row = await tx.get(statement);
    if (!row) return false;
    await indexWords(tx, row.item_id, { namespace, words });
    if (embedded) await putVectors(tx, form, row.item_id, embedded.vectors);
    return true;
  };
}
