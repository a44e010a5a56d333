import type { Transaction } from '../../../db/db.ts';
import type { SqlValue } from '../../../db/sql.ts';
import { putVectors, type VectorFormat } from '../../../storage/store/vectors.ts';
import type { Row } from './tables.ts';

/** The table whose vectors PostgreSQL may keep in a column of pgvector's type, which no other database can read. */
export const VECTORS_TABLE = 'store_vectors';

/** Select list with such a column as text: `[1,0.5]`. */
export const PGVECTOR_COLUMNS = ['item_id', 'vector', 'embedding::text as embedding'];

/** A row of `PGVECTOR_COLUMNS` as every other database has it: little-endian 32-bit floats. */
export function withBytes({ item_id, vector, embedding }: Row): Row {
  return {
    item_id: item_id as SqlValue,
    vector: vector ?? (embedding ? bytesOf(embedding as string) : null),
  };
}

function bytesOf(text: string): Uint8Array {
  const floats = new Float32Array(JSON.parse(text) as number[]);
  return Buffer.from(floats.buffer);
}

/** Inserts the vectors of whole items in the target's format. */
export async function insertVectors(
  tx: Transaction,
  form: VectorFormat,
  rows: readonly Row[],
): Promise<void> {
  for (const [item_id, its] of Map.groupBy(rows, (row) => row['item_id'] as number)) {
    const vectors = its.flatMap(({ vector }) =>
      vector instanceof Uint8Array ? [new Float32Array(new Uint8Array(vector).buffer)] : [],
    );
    await putVectors(tx, form, item_id, vectors);
  }
}
