import { createHash } from 'node:crypto';
import { Conflict, InvalidInput } from '../../../core/errors.ts';
import type { Db, Reader } from '../../../db/db.ts';
import type { Encryptor } from '../../../db/encryption/cipher.ts';
import { migrationTimes } from '../../../db/schema.ts';
import { raw } from '../../../db/sql.ts';
import { unlockReader } from '../../../storage/encryption/unlock.ts';
import type { OwnedData } from '../../../storage/owned-data.ts';
import { BYTES, prepareVectors } from '../../../storage/store/vectors.ts';
import { assertEmpty, openTarget, withSnapshot } from './databases.ts';
import {
  advance,
  beginProgress,
  endProgress,
  progressOf,
  type TableProgress,
  unfinishedSource,
} from './progress.ts';
import { continueAfter } from './sequences.ts';
import { type Side, sideOf } from './side.ts';
import { type CopiedTable, copiedTables } from './tables.ts';
import { emptyTables, lastNumbers, tablesWithRows, transferTable, verifyTable } from './transfer.ts';
import { insertBatch, type WriteRules } from './write.ts';

export interface CopyOptions {
  /** `sqlite:` and an absolute path, or `postgres://…`; `to` likewise. */
  readonly from: string;
  readonly to: string;
  /** Commands that print the passwords of a PostgreSQL, instead of those of the URLs. */
  readonly password_commands?: { readonly from?: string | undefined; readonly to?: string | undefined };
  /** Only to index the words of encrypted items: every encrypted value is copied as it is. */
  readonly encryptor?: Encryptor | undefined;
  /** What extensions own in both. */
  readonly owned?: readonly OwnedData[] | undefined;
  /** Copies one moment of a database that servers are using. */
  readonly while_running?: boolean;
  /** Empties the target of an unfinished copy first. */
  readonly restart?: boolean;
  readonly report?: CopyReport | undefined;
}

export interface CopyReport {
  /** An earlier call was interrupted, and this one continues behind the rows it copied. */
  readonly onResume?: (rows: number) => void;
  /** After each batch: rows of the table that are in the target. */
  readonly onBatch?: (table: string, rows: number) => void;
  readonly onVerified?: (table: string, rows: number) => void;
  /** One line. */
  readonly onWarning?: (line: string) => void;
}

/**
 * Copies a database into an empty one, row by row with all ids, values and ciphertexts. A call that was interrupted is
 * continued by the next one. At the end every table is read again on both sides and compared. Returns the number of
 * rows. Throws `Unavailable`, `Conflict` or `InvalidInput` with the way out.
 */
export async function copyDatabase(options: CopyOptions): Promise<number> {
  if (options.from === options.to) throw new InvalidInput('--from and --to name the same database.');
  const { while_running = false, password_commands: { from: password_command, to } = {}, owned } = options;
  return withSnapshot(options.from, { while_running, password_command, owned }, async (reader) => {
    await using target = await openTarget(options.to, { password_command: to, owned });
    return await copyInto(target, reader, options);
  });
}

async function copyInto(target: Db, reader: Reader, options: CopyOptions): Promise<number> {
  const plan = await planCopy(reader, target, options);
  await prepareTarget(target, reader, plan.tables, options);
  for (const table of plan.tables) await copyTable(target, plan, table, options.report ?? {});
  return finishCopy(target, plan, options.report ?? {});
}

/** What to copy, and how. */
export interface CopyPlan {
  readonly source: Side;
  readonly into: Side;
  /** Parents before the tables that reference them. */
  readonly tables: readonly CopiedTable[];
  readonly rules: WriteRules;
}

/** Compares the two schemas, and prepares the target for vectors if there are any. Throws as `unlockReader` does. */
export async function planCopy(
  reader: Reader,
  target: Db,
  { encryptor, report }: Pick<CopyOptions, 'encryptor' | 'report'>,
): Promise<CopyPlan> {
  const source = await sideOf(reader);
  const has_vectors = (await reader.get(raw('select 1 from store_vectors limit 1'))) !== undefined;
  const rules: WriteRules = {
    from: reader.dialect,
    cipher: await unlockReader(reader, encryptor),
    vectors: has_vectors ? await prepareVectors(target) : BYTES,
    onUnreadable: ({ item_id }, { message }) =>
      report?.onWarning?.(`${message}: the item ${item_id} is copied, but search will not find it`),
  };
  const into = await sideOf(target);
  return { source, into, tables: copiedTables(source.schema, into.schema), rules };
}

/** Begins, continues or restarts. */
async function prepareTarget(
  target: Db,
  reader: Reader,
  tables: readonly CopiedTable[],
  { restart, while_running, report }: CopyOptions,
): Promise<void> {
  const source = createHash('sha256')
    .update(await migrationTimes(reader))
    .digest('hex');
  const unfinished = await unfinishedSource(target);
  if (unfinished === undefined) {
    assertEmpty(await tablesWithRows(target, tables));
    return beginProgress(target, source);
  }
  // The rows of a running server have changed since: what is there belongs to another moment.
  if (restart || while_running) {
    await target.transaction('bulk', async (tx) => {
      await emptyTables(tx, tables);
      await endProgress(tx);
    });
    return beginProgress(target, source);
  }
  if (unfinished !== source)
    throw new Conflict('The target is an unfinished copy of another database. Start over with --restart.');
  let rows = 0;
  for (const { name } of tables) rows += (await progressOf(target, name)).rows;
  report?.onResume?.(rows);
}

async function copyTable(
  target: Db,
  { source, rules }: CopyPlan,
  table: CopiedTable,
  { onBatch }: CopyReport,
): Promise<void> {
  let progress: TableProgress = await progressOf(target, table.name);
  await transferTable(source, table, {
    after: progress.last,
    write: async ({ rows, last }) => {
      const next = { rows: progress.rows + rows.length, last };
      await target.transaction('async', async (tx) => {
        await insertBatch(tx, table, rows, rules);
        await advance(tx, table.name, progress, next);
      });
      progress = next;
      onBatch?.(table.name, next.rows);
    },
  });
}

/** Compares, and only then makes the target a database that servers accept. */
async function finishCopy(
  target: Db,
  { source, into, tables }: CopyPlan,
  { onVerified }: CopyReport,
): Promise<number> {
  let total = 0;
  for (const table of tables) {
    const rows = await verifyTable(source, into, table);
    onVerified?.(table.name, rows);
    total += rows;
  }
  const numbers = await lastNumbers(source.reader, tables);
  await target.transaction('sync', async (tx) => {
    for (const [table, last] of numbers) await continueAfter(tx, table, last);
    await endProgress(tx);
  });
  // Without statistics the first searches on PostgreSQL would scan whole tables.
  if (target.dialect === 'postgres')
    await target.run(raw(`analyze ${tables.map(({ name }) => name).join(', ')}`));
  return total;
}
