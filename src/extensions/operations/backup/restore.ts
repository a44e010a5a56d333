import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Conflict, Unavailable } from '../../../core/errors.ts';
import type { Db, Reader, Transaction } from '../../../db/db.ts';
import type { Encryptor } from '../../../db/encryption/cipher.ts';
import {
  holdForReplacement,
  removeSqlite,
  sqlitePath,
  vacuumInto,
} from '../../../db/engines/sqlite-files.ts';
import { openSqliteSnapshot } from '../../../db/engines/sqlite-snapshot.ts';
import { pendingMigrations } from '../../../db/migrate.ts';
import { assertIntact } from '../../../storage/backup-file.ts';
import { allMigrations, type OwnedData } from '../../../storage/owned-data.ts';
import { liveWorkers } from '../../../storage/queue/workers.ts';
import type { HeldFiles, NamedFiles } from '../../extension.ts';
import { type CopyReport, planCopy } from '../copy/copy.ts';
import { LEASE_NOTE, openTarget, WITHOUT_TIMEOUTS } from '../copy/databases.ts';
import { endProgress, unfinishedSource } from '../copy/progress.ts';
import { continueAfter } from '../copy/sequences.ts';
import { emptyTables, lastNumbers, tablesWithRows, transferTable, verifyTable } from '../copy/transfer.ts';
import { insertBatch } from '../copy/write.ts';
import { filesFolderOf } from './files-folder.ts';

export interface RestoreOptions {
  /** An absolute path: what `backupDatabase` wrote. */
  readonly file: string;
  /** `sqlite:` and an absolute path, or `postgres://…`. */
  readonly url: string;
  /** Command that prints the password of a PostgreSQL. */
  readonly password_command?: string | undefined;
  /** Files of extensions, which are restored from the folder next to the file. Default: none are. */
  readonly files?: readonly NamedFiles[];
  /** Replaces a database that has data. */
  readonly force?: boolean;
  /** What extensions own in it. */
  readonly owned?: readonly OwnedData[] | undefined;
  /** As in `CopyOptions`. */
  readonly encryptor?: Encryptor | undefined;
  readonly report?: CopyReport | undefined;
}

/**
 * Replaces the database by a backup of either engine, all or nothing: a crash leaves the old data or the new. Then the
 * files of extensions, likewise: after a crash between them, restore once more. The backup is verified first. Throws
 * `Unavailable` for a backup that is not intact and while a server uses the database, and `Conflict` for a database
 * that has data, without `force`.
 */
export async function restoreDatabase(options: RestoreOptions): Promise<void> {
  await assertIntact(options.file);
  const { file, files = [], force = false } = options;
  const held: HeldFiles[] = [];
  try {
    for (const { name, hold } of files) held.push(await hold(file, filesFolderOf(file, name), force));
    await restoreRows(options);
    for (const each of held) each.replace();
  } finally {
    for (const each of held) each[Symbol.dispose]();
  }
}

async function restoreRows(options: RestoreOptions): Promise<void> {
  const path = sqlitePath(options.url);
  if (path !== undefined) return restoreSqlite(path, options);
  using backup = (await isCurrent(options)) ? undefined : await migratedCopy(options);
  await using snapshot = openSqliteSnapshot(backup?.file ?? options.file);
  await restorePostgres(snapshot, options);
}

async function restoreSqlite(path: string, { file, force }: RestoreOptions): Promise<void> {
  using held = holdForReplacement(path);
  if (!held.is_empty && !force) throw notEmpty();
  const fresh = `${held.file}.restore`;
  try {
    vacuumInto(file, fresh);
    await assertIntact(fresh);
    held.replaceBy(fresh);
  } finally {
    removeSqlite(fresh);
  }
}

function notEmpty(): Conflict {
  return new Conflict('The database is not empty. Back it up, then replace it with --force.');
}

async function isCurrent({ file, owned }: RestoreOptions): Promise<boolean> {
  await using snapshot = openSqliteSnapshot(file);
  return (await pendingMigrations(snapshot, allMigrations(owned))).length === 0;
}

/** An older backup is migrated before its rows go into the tables of today. */
async function migratedCopy({
  file: backup,
  owned,
}: RestoreOptions): Promise<Disposable & { readonly file: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-restore-'));
  const file = join(folder, 'backup.db');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    vacuumInto(backup, file);
    await (await openTarget(`sqlite:${file}`, { owned }))[Symbol.asyncDispose]();
  } catch (error) {
    remove();
    throw error;
  }
  return { file, [Symbol.dispose]: remove };
}

/** One transaction: PostgreSQL shows all of it or nothing. */
async function restorePostgres(snapshot: Reader, options: RestoreOptions): Promise<void> {
  const { force, report = {} } = options;
  await using target: Db = await openTarget(options.url, options);
  if ((await liveWorkers(target)) > 0)
    throw new Unavailable(`A server is using the database. Stop all servers first; ${LEASE_NOTE}.`);
  const plan = await planCopy(snapshot, target, options);
  const { tables, source } = plan;
  const is_unfinished = (await unfinishedSource(target)) !== undefined;
  if (!force && (is_unfinished || (await tablesWithRows(target, tables)).length > 0)) throw notEmpty();
  const numbers = await lastNumbers(snapshot, tables);
  await target.transaction('bulk', async (tx: Transaction) => {
    await tx.all(WITHOUT_TIMEOUTS);
    await emptyTables(tx, tables);
    if (is_unfinished) await endProgress(tx);
    for (const table of tables) {
      let rows = 0;
      await transferTable(source, table, {
        write: async (batch) => {
          await insertBatch(tx, table, batch.rows, plan.rules);
          rows += batch.rows.length;
          report.onBatch?.(table.name, rows);
        },
      });
      report.onVerified?.(table.name, await verifyTable(source, { ...plan.into, reader: tx }, table));
    }
    for (const [table, last] of numbers) await continueAfter(tx, table, last);
  });
}
