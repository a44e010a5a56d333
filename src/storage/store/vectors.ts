import type { Db, Reader, Transaction } from '../db.ts';
import { insertRows } from '../insert-rows.ts';
import { type DialectSql, raw, type Sql, sql } from '../sql.ts';
import { type Found, isInScope, LAST_CHANGED_FIRST, type StoreScope } from './scope.ts';
import { nearestInProcess } from './vector-scan.ts';

/**
 * How vectors lie in the database: as bytes, which SQLite compares and PostgreSQL only keeps, or as pgvector's own type,
 * in the schema where that is installed.
 */
export type VectorForm = { readonly kind: 'bytes' } | { readonly kind: 'pgvector'; readonly schema: string };

export const BYTES: VectorForm = { kind: 'bytes' };

/** What items are compared with: a unit vector, among items of one index. */
export interface VectorQuery {
  readonly vector: Float32Array;
  /** The name of the index, as the items have it. */
  readonly indexed_by: string;
}

/** Makes the database ready for vectors. With PostgreSQL pgvector is used where it is installed or may be. */
export async function prepareVectors(db: Db): Promise<VectorForm> {
  const schema = db.dialect === 'postgres' ? await pgvectorSchema(db) : undefined;
  if (schema === undefined) return BYTES;
  const form: VectorForm = { kind: 'pgvector', schema: `"${schema.replaceAll('"', '""')}"` };
  await db.transaction('promised', async (tx) => {
    // Of several servers that start, one adds the column.
    await tx.get(sql`select pg_advisory_xact_lock(4919131752989213765)`);
    await tx.run(sql`alter table store_vectors add column if not exists embedding ${typeOf(form)}`);
  });
  return form;
}

async function pgvectorSchema(db: Db): Promise<string | undefined> {
  const schema = async () => {
    const row = await db.get<{ nspname: string }>(sql`select nspname from pg_extension
      join pg_namespace on pg_namespace.oid = extnamespace where extname = 'vector'`);
    return row?.nspname;
  };
  const there = await schema();
  if (there !== undefined) return there;
  if (!(await db.get(sql`select 1 from pg_available_extensions where name = 'vector'`))) return undefined;
  try {
    await db.run(sql`create extension if not exists vector schema public`);
  } catch {
    // Only some roles may, an administrator can do it once for all; or another server was faster.
  }
  return schema();
}

function typeOf(form: VectorForm): Sql {
  return raw(form.kind === 'pgvector' ? `${form.schema}.vector` : 'bytea');
}

/** The vectors of an item, in place of those that it had. */
export async function putVectors(
  tx: Transaction,
  form: VectorForm,
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
 * Items whose nearest vector is most like the query's, by the cosine of their angle: 1 is the same direction, -1 the
 * opposite. Every item of the scope is compared: nothing is cut before.
 */
export function findNearest(
  reader: Reader,
  form: VectorForm,
  query: VectorQuery,
  scope: StoreScope,
): Promise<Found[]> {
  if (reader.dialect === 'postgres' && form.kind === 'bytes') return nearestInProcess(reader, query, scope);
  const similarity: DialectSql = {
    sqlite: sql`coalesce(1 - vec_distance_cosine(vector, ${bytesOf(query.vector)}), 0)`,
    // Of unit vectors: the cosine, and no number is missing where a vector is zero.
    postgres: sql`-(embedding ${productOf(form)} ${textOf(query.vector)}::${typeOf(form)})`,
  };
  return reader.all<Found>(sql`
    select store_items.item_id, max(${similarity}) as score
    from store_items ${VECTORS_OF_ITEM}
    where indexed_by = ${query.indexed_by} and ${isInScope(reader.cipher, scope)}
    group by store_items.item_id
    order by score desc, ${LAST_CHANGED_FIRST} limit ${scope.limit} offset ${scope.offset}`);
}

/** The negative inner product. */
function productOf(form: VectorForm): Sql {
  return raw(form.kind === 'pgvector' ? `operator(${form.schema}.<#>)` : '');
}

const VECTORS_OF_ITEM: DialectSql = {
  sqlite: raw('cross join store_vectors on store_vectors.item_id = store_items.item_id'),
  postgres: raw('join store_vectors on store_vectors.item_id = store_items.item_id'),
};

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** As pgvector reads it. */
function textOf(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}
