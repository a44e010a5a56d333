import { columns, number, text } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import { insertRows } from '../../db/rows.ts';
import { type DialectSql, raw, type Sql, sql } from '../../db/sql.ts';
import { type Found, isInScope, isItem, LAST_CHANGED_FIRST, type StoreScope } from './scope.ts';

/**
 * Storage format of vectors: bytes, which SQLite can compare and PostgreSQL only stores, or pgvector's type in the
 * schema where it is installed.
 */
export type VectorFormat =
  | { readonly kind: 'bytes' }
  | { readonly kind: 'pgvector'; readonly schema: string };

export const BYTES: VectorFormat = { kind: 'bytes' };

/** A unit vector to compare with the items of one index. */
export interface VectorQuery {
  readonly vector: Float32Array;
  /** Name of the index, as in `indexed_by`. */
  readonly indexed_by: string;
}

/** Prepares vector storage. On PostgreSQL uses pgvector if it is installed or can be. */
export async function prepareVectors(db: Db): Promise<VectorFormat> {
  const schema = db.dialect === 'postgres' ? await pgvectorSchema(db) : undefined;
  if (schema === undefined) return BYTES;
  const form: VectorFormat = { kind: 'pgvector', schema: `"${schema.replaceAll('"', '""')}"` };
  await db.transaction('sync', async (tx) => {
    // Advisory lock: only one of several starting servers adds the column.
    await tx.get(sql`select pg_advisory_xact_lock(4919131752989213766)`);
    await tx.run(sql`alter table store_vectors add column if not exists embedding ${typeOf(form)}`);
  });
  return form;
}

async function pgvectorSchema(db: Db): Promise<string | undefined> {
  const schema = async () => {
    const row = await db.get(sql`select ${text('nspname')} from pg_extension
      join pg_namespace on pg_namespace.oid = extnamespace where extname = 'vector'`);
    return row?.nspname;
  };
  const there = await schema();
  if (there !== undefined) return there;
  if (!(await db.get(sql`select 1 from pg_available_extensions where name = 'vector'`))) return undefined;
  try {
    await db.run(sql`create extension if not exists vector schema public`);
  } catch {
    // Requires privileges, so an administrator may have to do it once; or another server was faster.
  }
  return schema();
}

function typeOf(form: VectorFormat): Sql {
  return raw(form.kind === 'pgvector' ? `${form.schema}.vector` : 'bytea');
}

/** Replaces the vectors of an item. */
export async function putVectors(
  tx: Transaction,
  form: VectorFormat,
  item_id: number,
  vectors: readonly Float32Array[],
): Promise<void> {
  await tx.run(sql`delete from store_vectors where item_id = ${item_id}`);
  const rows = vectors.map((vector) =>
    form.kind === 'pgvector'
      ? sql`(${item_id}::bigint, ${textOf(vector)}::${typeOf(form)})`
      : sql`(${item_id}, ${bytesOf(vector)})`,
  );
  const column = raw(form.kind === 'pgvector' ? 'embedding' : 'vector');
  await insertRows(tx, sql`store_vectors (item_id, ${column})`, rows, raw(''));
}

/**
 * Nearest items by cosine similarity of their best vector: 1 is the same direction, -1 the opposite. Exact: compares
 * every item in scope, without an approximate index.
 */
export function findNearest(
  reader: Reader,
  form: VectorFormat,
  query: VectorQuery,
  scope: StoreScope,
): Promise<Found[]> {
  if (reader.dialect === 'postgres' && form.kind === 'bytes') return nearestInProcess(reader, query, scope);
  const similarity: DialectSql = {
    sqlite: sql`coalesce(1 - vec_distance_cosine(vector, ${bytesOf(query.vector)}), 0)`,
    // Inner product of unit vectors: equals the cosine, and is defined for a zero vector.
    postgres: sql`-(embedding ${productOf(form)} ${textOf(query.vector)}::${typeOf(form)})`,
  };
  return reader.all(sql`
    select ${columns('store_items', 'store_items.item_id')}, max(${similarity}) as ${number('score')}
    from store_items ${VECTORS_OF_ITEM}
    where indexed_by = ${query.indexed_by} and ${isInScope(reader.cipher, scope)}
    group by store_items.item_id
    order by score desc, ${LAST_CHANGED_FIRST} limit ${scope.limit} offset ${scope.offset}`);
}

/** The negative inner product. */
function productOf(form: VectorFormat): Sql {
  return raw(form.kind === 'pgvector' ? `operator(${form.schema}.<#>)` : '');
}

const VECTORS_OF_ITEM: DialectSql = {
  sqlite: raw('cross join store_vectors on store_vectors.item_id = store_items.item_id'),
  postgres: raw('join store_vectors on store_vectors.item_id = store_items.item_id'),
};

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Text format of pgvector. */
function textOf(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}

/** Items per batch in memory, between which the event loop runs. */
const BATCH = 1000;

type Candidate = Found & { readonly score: number };

/**
 * `findNearest` without pgvector: reads and compares the vectors in process. Exact; the cost grows with the namespace:
 * 10,000 × 384 took 430 ms, nearly all of it transfer (bench/store).
 */
async function nearestInProcess(
  reader: Reader,
  { vector, indexed_by }: VectorQuery,
  scope: StoreScope,
): Promise<Found[]> {
  const items = await reader.all(sql`select ${columns('store_items', 'item_id')} from store_items
    where indexed_by = ${indexed_by} and ${isInScope(reader.cipher, scope)} order by ${LAST_CHANGED_FIRST}`);
  let best: Candidate[] = [];
  for (let start = 0; start < items.length; start += BATCH) {
    const ids = items.slice(start, start + BATCH).map(({ item_id }) => item_id);
    const scores = await similarities(reader, vector, ids);
    // In item order, which the stable sort preserves among equal scores.
    const found = ids.flatMap((item_id) => {
      const score = scores.get(item_id);
      return score === undefined ? [] : [{ item_id, score }];
    });
    best = [...best, ...found].sort((one, other) => other.score - one.score);
    best = best.slice(0, scope.offset + scope.limit);
  }
  return best.slice(scope.offset);
}

/** Best similarity per item; no entry for an item without vectors. */
async function similarities(
  reader: Reader,
  query: Float32Array,
  item_ids: readonly number[],
): Promise<Map<number, number>> {
  // Base64 adds a third to the size; PostgreSQL's hex doubles it.
  const rows = await reader.all(sql`
    select ${columns('store_vectors', 'item_id')}, encode(vector, 'base64') as ${text('vector')}
    from store_vectors where ${isItem(item_ids)}`);
  const scores = new Map<number, number>();
  for (const row of rows) {
    const vector = floatsOf(Buffer.from(row.vector, 'base64'));
    if (vector.length !== query.length) continue;
    scores.set(row.item_id, Math.max(dot(vector, query), scores.get(row.item_id) ?? -1));
  }
  return scores;
}

/** Copies, because pooled buffers may be misaligned for floats. */
function floatsOf(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += (one[index] as number) * (other[index] as number);
  return sum;
}
