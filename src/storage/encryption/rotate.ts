import { sleep } from '../../core/timers.ts';
import { columnsNamed, number } from '../../db/columns.ts';
import type { Db, Transaction } from '../../db/db.ts';
import { DecryptionError } from '../../db/encryption/cipher.ts';
import type { EncryptingCipher } from '../../db/encryption/encrypting-cipher.ts';
import { and, FOR_UPDATE, join, list, or, raw, type Sql, type SqlValue, sql } from '../../db/sql.ts';
import { blindKey, type IdempotencyKey } from '../idempotency.ts';
import { blindTextHash } from '../runs/step-texts.ts';
import { blindIndexWords, mergeWordIndex } from '../store/full-text.ts';
import { blindSummary } from '../threads/values-summary.ts';
import { type EncryptedColumn, type EncryptedTable, isStale, reencrypt } from './columns.ts';

export interface RotationOptions {
  /** Also re-encrypts values under the current key, for custom handlers with their own keys. */
  readonly everything?: boolean;
  readonly onTable: (table: string, rows: number) => void;
}

export interface RotationResult {
  /** Number of re-encrypted rows. */
  readonly rows: number;
  /** Rows that failed to decrypt and remain unchanged, one line each. */
  readonly unreadable: readonly string[];
}

/** Batch limits: a SQLite transaction blocks other writers. */
const BATCH_ROWS = 200;
const BATCH_BYTES = 1024 ** 2;
/** Pause between batches: a writer waiting for the SQLite lock retries after some milliseconds. */
const PAUSE_MS = 10;

type Row = Record<string, SqlValue>;

/**
 * Re-encrypts every stale row with the current key, online. Can be stopped and resumed at any time. Repeats until no
 * stale row is left, because running servers copy rows as they are.
 */
export async function rotate(
  db: Db,
  cipher: EncryptingCipher,
  tables: readonly EncryptedTable[],
  rules: RotationOptions,
): Promise<RotationResult> {
  const { everything = false, onTable } = rules;
  const unreadable = new Set<string>();
  let rows = 0;
  let changed: number;
  do {
    changed = 0;
    for (const table of tables) {
      const done = await rotateTable({ db, cipher, table, everything, unreadable });
      if (done > 0) onTable(table.table, done);
      if (done > 0 && table.table === 'store_items') await mergeWordIndex(db);
      changed += done;
    }
    rows += changed;
  } while (changed > 0 && !everything);
  return { rows, unreadable: [...unreadable] };
}

interface TableRotation {
  readonly db: Db;
  readonly cipher: EncryptingCipher;
  readonly table: EncryptedTable;
  readonly everything: boolean;
  /** Accumulates over tables. */
  readonly unreadable: Set<string>;
}

/** Returns the number of re-encrypted rows. */
async function rotateTable(rotation: TableRotation): Promise<number> {
  const { db } = rotation;
  let done = 0;
  let after: Row | undefined;
  for (;;) {
    const last = await endOfBatch(rotation, after);
    if (!last) return done;
    const from = after;
    done += await db.transaction('sync', (tx) => rotateBatch(tx, rotation, from, last));
    after = last;
    if (db.dialect === 'sqlite') await sleep(PAUSE_MS);
  }
}

/** Keyset of the next batch's last row; `undefined` if there is none. */
async function endOfBatch(rotation: TableRotation, after: Row | undefined): Promise<Row | undefined> {
  const { db, table } = rotation;
  const bytes = columnsOf(table).map(({ name, form }) =>
    raw(`coalesce(octet_length(${form === 'bytes' ? name : `cast(${name} as text)`}), 0)`),
  );
  const rows = await db.all(sql`
    select ${keyOf(table)}, ${join(bytes, ' + ')} as ${number('bytes')} from ${raw(table.table)}
    where ${wantedCondition(rotation, after)} order by ${keyOf(table)} limit ${BATCH_ROWS}`);
  let sum = 0;
  for (const row of rows) {
    sum += row.bytes;
    if (sum > BATCH_BYTES) return row;
  }
  return rows.at(-1);
}

async function rotateBatch(
  tx: Transaction,
  rotation: TableRotation,
  after: Row | undefined,
  last: Row,
): Promise<number> {
  const { table } = rotation;
  const columns = columnsOf(table);
  const names = columnsNamed(columns.map(({ name }) => name));
  const rows = await tx.all(sql`
    select ${keyOf(table)}, ${names} from ${raw(table.table)}
    where ${wantedCondition(rotation, after)} and ${keysetCondition(table, '<=', last)} order by ${keyOf(table)}
    ${FOR_UPDATE}`);
  let done = 0;
  for (const row of rows) if (await rotateRow(tx, rotation, columns, row)) done++;
  return done;
}

async function rotateRow(
  tx: Transaction,
  { cipher, table, unreadable }: TableRotation,
  columns: readonly EncryptedColumn[],
  row: Row,
): Promise<boolean> {
  try {
    const anew = columns
      .filter(({ name }) => row[name] !== null)
      .map((column) => sql`${raw(column.name)} = ${reencrypt(cipher, column, row[column.name] as SqlValue)}`);
    await tx.run(sql`update ${raw(table.table)} set ${join(anew, ', ')} where ${isRow(table, row)}`);
    await blindIndexesOf(tx, table, row);
    return true;
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error;
    unreadable.add(`${error.message}: ${table.key.map((name) => row[name]).join(', ')}`);
    return false;
  }
}

/** Builds the blind indexes of a row from before encryption; `row` is as it was stored. */
async function blindIndexesOf(tx: Transaction, { table }: EncryptedTable, row: Row): Promise<void> {
  switch (table) {
    case 'thread_values':
      return blindSummary(tx, row as { thread_id: string; value: string });
    case 'store_items':
      return blindIndexWords(tx, row as { item_id: number; value: string });
    case 'step_texts':
      return blindTextHash(tx, row as { thread_id: string; number: number; data: string });
    case 'idempotency_keys':
      return blindKey(tx, row as unknown as IdempotencyKey);
  }
}

function columnsOf({ table, encrypted_as_table = table, columns }: EncryptedTable): EncryptedColumn[] {
  return Object.entries(columns).map(([name, form]) => ({
    name,
    form,
    encrypted_as: `${encrypted_as_table}.${name}`,
  }));
}

/** Rows with something to re-encrypt. */
function wantedCondition({ cipher, table, everything }: TableRotation, after: Row | undefined): Sql {
  const isWanted = columnsOf(table).map((column) =>
    everything ? sql`${raw(column.name)} is not null` : isStale(cipher, column),
  );
  return and([after && keysetCondition(table, '>', after), or(isWanted)]);
}

function keyOf({ key }: EncryptedTable): Sql<Row> {
  return columnsNamed(key);
}

function keysetCondition(table: EncryptedTable, than: '>' | '<=', row: Row): Sql {
  return sql`(${keyOf(table)}) ${raw(than)} ${list(table.key.map((name) => row[name] as SqlValue))}`;
}

function isRow({ key }: EncryptedTable, row: Row): Sql {
  return and(key.map((name) => sql`${raw(name)} = ${row[name] as SqlValue}`));
}
