import { existsSync, realpathSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  Conflict,
  InsufficientStorage,
  InvalidInput,
  isDiskFull,
  ServerError,
  Unavailable,
} from '../../../core/errors.ts';
import { makeFolder } from '../../../core/make-folder.ts';
import type { Encryptor } from '../../../db/encryption/cipher.ts';
import {
  finishFile,
  flush,
  removeCompanions,
  removeSqlite,
  sqlitePath,
  vacuumInto,
} from '../../../db/engines/sqlite-files.ts';
import { openSqliteSnapshot } from '../../../db/engines/sqlite-snapshot.ts';
import { assertIntact } from '../../../storage/backup-file.ts';
import { isEncrypted } from '../../../storage/encryption/unlock.ts';
import type { OwnedData } from '../../../storage/owned-data.ts';
import type { NamedFiles } from '../../extension.ts';
import { type CopyReport, copyDatabase } from '../copy/copy.ts';
import { copyFiles, filesFolderOf, removeFolders, renameFolders } from './files-folder.ts';

export interface BackupOptions {
  /** `sqlite:` and an absolute path, or `postgres://…`. */
  readonly url: string;
  /** Command that prints the password of a PostgreSQL. */
  readonly password_command?: string | undefined;
  /** An absolute path. */
  readonly file: string;
  /** Files of extensions; each extension's go into a folder next to the file. Default: none is saved. */
  readonly files?: readonly NamedFiles[];
  /** Replaces an existing file. */
  readonly force?: boolean;
  /** What extensions own in it. */
  readonly owned?: readonly OwnedData[] | undefined;
  /** As in `CopyOptions`. */
  readonly encryptor?: Encryptor | undefined;
  readonly report?: CopyReport | undefined;
}

export interface Backup {
  readonly bytes: number;
  /** Its values are ciphertexts, whose key is not in it. */
  readonly encrypted: boolean;
  /** Names of what is in the folder next to it, by the name of the extension. */
  readonly files: Readonly<Record<string, readonly string[]>>;
}

/**
 * Writes one moment of the database to a file, while servers continue. The file is a SQLite database, of PostgreSQL too: it
 * can be restored into either. It gets its name when it is complete and verified. Throws `Conflict` if the file exists,
 * `InsufficientStorage` or `Unavailable` if it cannot be written, and as `copyDatabase` does.
 */
export async function backupDatabase(options: BackupOptions): Promise<Backup> {
  try {
    return await writeBackup(options);
  } catch (error) {
    throw writeError(options.file, error);
  }
}

async function writeBackup(options: BackupOptions): Promise<Backup> {
  const { url, file, force, files = [] } = options;
  for (const path of [file, ...files.map(({ name }) => filesFolderOf(file, name))])
    if (existsSync(path) && !force)
      throw new Conflict(`${path} already exists. Name another file, or replace it with --force.`);
  const path = sqlitePath(url);
  if (path !== undefined && existsSync(path) && existsSync(file) && realpathSync(path) === realpathSync(file))
    throw new InvalidInput('The backup must not be the file of the database itself.');
  makeFolder(dirname(file));
  const partial = `${file}.partial`;
  removeFolders(partial, files);
  try {
    if (path === undefined) await copyToFile(url, partial, options);
    else vacuumInto(path, partial);
    await assertIntact(partial);
    const encrypted = await isEncryptedFile(partial);
    const copied = await copyFiles(partial, files);
    removeCompanions(partial);
    renameFolders(partial, file, files);
    renameSync(partial, file);
    flush(dirname(file));
    return { bytes: statSync(file).size, encrypted, files: copied };
  } catch (error) {
    removeSqlite(partial);
    removeFolders(partial, files);
    throw error;
  }
}

/** Adds the file name to an error in writing: others are about the database of the server. */
function writeError(file: string, error: unknown): unknown {
  const cause = error instanceof ServerError ? error.cause : error;
  if (!(cause instanceof Error && 'code' in cause)) return error;
  const code = String(cause.code);
  // Errors of files have a path, those of connections none.
  const isOfFile = cause === error && 'path' in cause;
  if (code === 'SQLITE_FULL' || (isOfFile && isDiskFull(cause)))
    return new InsufficientStorage(
      `No space is left for the backup ${file}. Free some, or name a file on another disk.`,
      { cause },
    );
  if (isOfFile || /^SQLITE_IOERR_(WRITE|FSYNC|TRUNCATE)$/.test(code))
    return new Unavailable(`The backup ${file} cannot be written: ${cause.message}.`, { cause });
  return error;
}

async function copyToFile(
  url: string,
  file: string,
  {
    password_command: from,
    ...options
  }: Pick<BackupOptions, 'password_command' | 'encryptor' | 'owned' | 'report'>,
): Promise<void> {
  removeSqlite(file);
  const to = `sqlite:${file}`;
  await copyDatabase({ from: url, to, password_commands: { from }, while_running: true, ...options });
  finishFile(file);
}

async function isEncryptedFile(file: string): Promise<boolean> {
  await using snapshot = openSqliteSnapshot(file);
  return await isEncrypted(snapshot);
}
