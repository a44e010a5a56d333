import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { nullable, number } from '../../src/db/columns.ts';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { cosineDistance } from '../../src/db/engines/sqlite-functions.ts';
import { sql } from '../../src/db/sql.ts';

const folder = mkdtempSync(join(tmpdir(), 'agent-server-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bytes = (...numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer);

test.each([
  [bytes(1, 0), bytes(1, 0), 0],
  [bytes(1, 0), bytes(-2, 0), 2],
  [bytes(1, 0), bytes(0, 3), 1],
  [bytes(0.3, -0.5, 0.7), bytes(0.1, 0.9, 0.2), 1.3314],
  [bytes(0, 0), bytes(1, 0), null],
])('the built-in distance of vectors equals that of sqlite-vec (%#)', async (one, other, distance) => {
  await using db = openSqlite(join(folder, `${Math.random()}`, 'server.db'), { synchronous: 'normal' });
  const row = await db.get(
    sql`select vec_distance_cosine(${one}, ${other}) as ${nullable(number('distance'))}`,
  );
  const own = cosineDistance(one, other);
  if (distance === null) expect([row?.distance, own]).toEqual([null, null]);
  else {
    expect(own).toBeCloseTo(distance, 3);
    expect(own).toBeCloseTo(row?.distance ?? Number.NaN, 5);
  }
});

test('vectors may have any alignment in memory, and must have equal lengths', () => {
  const odd = Buffer.concat([Buffer.from([0]), bytes(0.6, 0.8)]).subarray(1);
  expect(cosineDistance(odd, bytes(0.6, 0.8))).toBeCloseTo(0, 5);
  expect(() => cosineDistance(bytes(1), bytes(1, 0))).toThrow('different lengths');
});
