import { createHash } from 'node:crypto';
import type { SqlValue } from '../../../db/sql.ts';
import { batches } from './batches.ts';
import type { Side } from './side.ts';
import type { CopiedTable, Row } from './tables.ts';
import { canonicalText } from './write.ts';

/** What the rows of a table come to: equal for equal rows, whatever their order and engine. */
export interface TableDigest {
  readonly rows: number;
  /** Sum of the rows' hashes, 16 hexadecimal digits. */
  readonly checksum: string;
}

const MODULUS = 2n ** 64n;

/** Reads the whole table. */
export async function digestOf(side: Side, table: CopiedTable): Promise<TableDigest> {
  let count = 0;
  let sum = 0n;
  for await (const { rows } of batches(side, table)) {
    for (const row of rows) sum = (sum + hashOf(table, row)) % MODULUS;
    count += rows.length;
  }
  return { rows: count, checksum: sum.toString(16).padStart(16, '0') };
}

function hashOf({ columns }: CopiedTable, row: Row): bigint {
  const hash = createHash('sha256');
  for (const { name, kind } of columns) {
    const value = row[name] as SqlValue;
    if (value instanceof Uint8Array) hash.update(`bytes ${value.length} `).update(value);
    else if (kind === 'searched' && typeof value === 'string')
      hash.update(JSON.stringify(canonicalText(value)));
    else hash.update(JSON.stringify(value));
    hash.update('\n');
  }
  return hash.digest().readBigUInt64BE();
}
