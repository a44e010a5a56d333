import { createRequire } from 'node:module';
import type Database from 'better-sqlite3';
import { containsJson } from '../containment.ts';

/**
 * SQLite's stand-in for PostgreSQL's `jsonb @> jsonb`, as a function of two JSON texts: at the top level an array
 * contains a scalar, too.
 */
export function jsonContains(): (column: unknown, wanted: unknown) => 0 | 1 {
  // One search passes the same text for every row.
  let lastText: unknown;
  let lastValue: unknown;
  return (column, wanted) => {
    if (typeof column !== 'string' || typeof wanted !== 'string') return 0;
    if (wanted !== lastText) {
      lastValue = JSON.parse(wanted);
      lastText = wanted;
    }
    const value: unknown = JSON.parse(column);
    return containsJson(value, lastValue) || (Array.isArray(value) && value.includes(lastValue)) ? 1 : 0;
  };
}

/** SQLite's stand-in for PostgreSQL's `jsonb || jsonb` of two objects: a shallow merge in which null stays null. */
export function jsonMerge(column: unknown, patch: unknown): string {
  return JSON.stringify({ ...JSON.parse(String(column)), ...JSON.parse(String(patch)) });
}

/**
 * Registers `vec_distance_cosine(blob, blob)`: from sqlite-vec if it is installed and loads, otherwise our own, which
 * takes two to three times as long (bench/store).
 */
export function registerVectorFunctions(connection: Database.Database): void {
  if (loadSqliteVec(connection)) return;
  connection.function('vec_distance_cosine', { deterministic: true }, cosineDistance);
}

function loadSqliteVec(connection: Database.Database): boolean {
  try {
    const { getLoadablePath } = createRequire(import.meta.url)('sqlite-vec') as typeof import('sqlite-vec');
    connection.loadExtension(getLoadablePath());
    return true;
  } catch {
    // Optional dependency: not available on every platform.
    return false;
  }
}

/** Cosine distance of vectors of 32-bit floats. Null if either has length zero, as in sqlite-vec. */
export function cosineDistance(one: unknown, other: unknown): number | null {
  const [a, b] = [floatsOf(one as Buffer), floatsOf(other as Buffer)];
  if (a.length !== b.length) throw new Error('Vectors of different lengths cannot be compared.');
  let [product, lengthA, lengthB] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const [x, y] = [a[index] as number, b[index] as number];
    product += x * y;
    lengthA += x * x;
    lengthB += y * y;
  }
  return lengthA === 0 || lengthB === 0 ? null : 1 - product / Math.sqrt(lengthA * lengthB);
}

function floatsOf(bytes: Buffer): Float32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Float32Array(aligned.buffer, aligned.byteOffset, bytes.length / 4);
}
