import { Conflict, InvalidInput } from '../../../core/errors.ts';
import type { Reader, Transaction } from '../../../db/db.ts';
import { raw } from '../../../db/sql.ts';
import { type Batch, batches } from './batches.ts';
import { digestOf } from './digest.ts';
import { lastNumber } from './sequences.ts';
import type { Side } from './side.ts';
import type { CopiedTable } from './tables.ts';

/** Where a table continues, and what to do with each batch. */
export interface TableTransfer {
  readonly after?: Batch['last'] | undefined;
  readonly write: (batch: Batch) => Promise<void>;
}

/** Reads a table in batches and writes each. Throws `InvalidInput` for rows that the target cannot store. */
export async function transferTable(
  source: Side,
  table: CopiedTable,
  { after, write }: TableTransfer,
): Promise<void> {
  for await (const batch of batches(source, table, after)) {
    try {
      await write(batch);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      const at = `${table.key.join(', ')} up to ${batch.last.join(', ')}`;
      throw new InvalidInput(
        `A row of ${table.name} (${at}) contains a value that the target cannot store.`,
        {
          cause: error,
        },
      );
    }
  }
}

/** Tables with rows, of those that a copy would fill. */
export async function tablesWithRows(reader: Reader, tables: readonly CopiedTable[]): Promise<string[]> {
  const found: string[] = [];
  for (const { name } of tables) if (await reader.get(raw(`select 1 from ${name} limit 1`))) found.push(name);
  return found;
}

/** Deletes the rows of all these tables. */
export async function emptyTables(tx: Transaction, tables: readonly CopiedTable[]): Promise<void> {
  const children = tables.toReversed().map(({ name }) => name);
  if (tx.dialect === 'postgres') await tx.run(raw(`truncate ${children.join(', ')}`));
  else for (const name of children) await tx.run(raw(`delete from ${name}`));
}

/** Read before the transaction that uses them: on SQLite that may await only its own statements. */
export async function lastNumbers(
  source: Reader,
  tables: readonly CopiedTable[],
): Promise<Map<CopiedTable, number>> {
  const numbers = new Map<CopiedTable, number>();
  for (const table of tables) numbers.set(table, await lastNumber(source, table));
  return numbers;
}

/**
 * Reads both databases again and compares the number of rows and their checksums. Returns the number of rows. Throws
 * `Conflict` if a table differs.
 */
export async function verifyTable(source: Side, target: Side, table: CopiedTable): Promise<number> {
  const [wanted, found] = [await digestOf(source, table), await digestOf(target, table)];
  if (wanted.rows === found.rows && wanted.checksum === found.checksum) return found.rows;
  const sides = `${wanted.rows} rows with checksum ${wanted.checksum}, the copy ${found.rows} with ${found.checksum}`;
  throw new Conflict(
    `${table.name} differs: the source has ${sides}. The source has changed since the copy began: run it again with --restart.`,
  );
}
