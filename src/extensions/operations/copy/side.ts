import type { Reader } from '../../../db/db.ts';
import { readSchema } from '../../../db/schema.ts';
import type { Schema } from './tables.ts';

/** One of the two databases of a copy. */
export interface Side {
  readonly reader: Reader;
  readonly schema: Schema;
  /** Vectors may be in a column of pgvector's type instead of bytes. */
  readonly has_pgvector: boolean;
}

export async function sideOf(reader: Reader): Promise<Side> {
  const schema = await readSchema(reader);
  const columns = schema.get('store_vectors')?.columns ?? [];
  return { reader, schema, has_pgvector: columns.some(({ name }) => name === 'embedding') };
}
