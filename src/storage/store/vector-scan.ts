import type { Reader } from '../db.ts';
import { sql } from '../sql.ts';
import { isItem } from './rows.ts';
import { type Found, isInScope, LAST_CHANGED_FIRST, type StoreScope } from './scope.ts';
import type { VectorQuery } from './vectors.ts';

/** Items whose vectors are in memory at once, and between which the process does other things. */
const BATCH = 1000;

type Candidate = Found & { readonly score: number };

/**
 * `findNearest` where the database cannot compare vectors: they are read and compared here. Exact, and its cost grows
 * with the namespace: 10,000 × 384 took 430 ms, nearly all of it on the way here (bench/store).
 */
export async function nearestInProcess(
  reader: Reader,
  { vector, indexed_by }: VectorQuery,
  scope: StoreScope,
): Promise<Found[]> {
  const items = await reader.all<{ item_id: number }>(sql`select item_id from store_items
    where indexed_by = ${indexed_by} and ${isInScope(reader.cipher, scope)} order by ${LAST_CHANGED_FIRST}`);
  let best: Candidate[] = [];
  for (let start = 0; start < items.length; start += BATCH) {
    const ids = items.slice(start, start + BATCH).map(({ item_id }) => item_id);
    const scores = await similarities(reader, vector, ids);
    // In the order of the items, which a stable sort keeps among equals.
    const found = ids.flatMap((item_id) => {
      const score = scores.get(item_id);
      return score === undefined ? [] : [{ item_id, score }];
    });
    best = [...best, ...found].sort((one, other) => other.score - one.score);
    best = best.slice(0, scope.offset + scope.limit);
  }
  return best.slice(scope.offset);
}

/** Of each item the best of its vectors; none for an item without. */
async function similarities(
  reader: Reader,
  query: Float32Array,
  item_ids: readonly number[],
): Promise<Map<number, number>> {
  // Base64 is a third longer than the bytes; what PostgreSQL sends otherwise is twice as long.
  const rows = await reader.all<{ item_id: number; vector: string }>(sql`
    select item_id, encode(vector, 'base64') as vector from store_vectors where ${isItem(item_ids)}`);
  const scores = new Map<number, number>();
  for (const row of rows) {
    const vector = floatsOf(Buffer.from(row.vector, 'base64'));
    if (vector.length !== query.length) continue;
    scores.set(row.item_id, Math.max(dot(vector, query), scores.get(row.item_id) ?? -1));
  }
  return scores;
}

/** A copy: bytes of a pool need not begin where a float may. */
function floatsOf(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += (one[index] as number) * (other[index] as number);
  return sum;
}
