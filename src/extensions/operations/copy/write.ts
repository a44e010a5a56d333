import type { Transaction } from '../../../db/db.ts';
import { type Cipher, DecryptionError } from '../../../db/encryption/cipher.ts';
import { canonicalJson } from '../../../db/json.ts';
import { insertRows } from '../../../db/rows.ts';
import { type DialectName, join, raw, type SqlValue, sql } from '../../../db/sql.ts';
import { decryptRule, decryptValue } from '../../../storage/store/encryption.ts';
import { indexedWords, putWords } from '../../../storage/store/full-text.ts';
import type { VectorFormat } from '../../../storage/store/vectors.ts';
import type { CopiedTable, Row } from './tables.ts';
import { insertVectors, VECTORS_TABLE } from './vectors.ts';

/** What the target needs beyond the rows. */
export interface WriteRules {
  readonly from: DialectName;
  /** Reads items, whose words are indexed anew, with the source's key. */
  readonly cipher: Cipher;
  readonly vectors: VectorFormat;
  /** Called for an item whose value cannot be decrypted: it is copied, but full-text search will not find it. */
  readonly onUnreadable: (item: Row, error: DecryptionError) => void;
}

/** Inserts rows as they are, with the indexes that only the target's engine has. */
export async function insertBatch(
  tx: Transaction,
  table: CopiedTable,
  rows: readonly Row[],
  rules: WriteRules,
): Promise<void> {
  if (table.name === VECTORS_TABLE && rules.vectors.kind === 'pgvector')
    return insertVectors(tx, rules.vectors, rows);
  // PostgreSQL prints jsonb in an order and with spaces of its own; searches on SQLite compare the text.
  const reorders = rules.from === 'postgres' && tx.dialect === 'sqlite';
  const values = rows.map((row) => {
    const cells = table.columns.map(({ name, kind }) => {
      const value = row[name] as SqlValue;
      return reorders && kind === 'searched' && typeof value === 'string' ? canonicalText(value) : value;
    });
    return sql`(${join(
      cells.map((value) => sql`${value}`),
      ', ',
    )})`;
  });
  const names = raw(table.columns.map(({ name }) => name).join(', '));
  await insertRows(tx, sql`${raw(table.name)} (${names})`, values, raw(''));
  if (table.name === 'store_items') for (const row of rows) await indexItem(tx, row, rules);
}

/** The same text for the same JSON. */
export function canonicalText(json: string): string {
  return json === '{}' ? json : canonicalJson(JSON.parse(json));
}

async function indexItem(tx: Transaction, row: Row, { cipher, onUnreadable }: WriteRules): Promise<void> {
  try {
    const rule = decryptRule(cipher, row['index_rule'] as string | null);
    const value = decryptValue(cipher, row['value'] as string);
    const namespace = JSON.parse(row['namespace'] as string) as string[];
    const words = indexedWords(cipher, value, rule);
    await putWords(tx, row['item_id'] as number, { namespace, words });
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    onUnreadable(row, error);
  }
}
