import { Conflict, Unavailable } from '../../../core/errors.ts';
import type { Db, Reader } from '../../../db/db.ts';
import { postgresOpenError } from '../../../db/engines/postgres-errors.ts';
import { openSqlite } from '../../../db/engines/sqlite.ts';
import { sqlitePath } from '../../../db/engines/sqlite-files.ts';
import { holdSqlite, openSqliteSnapshot } from '../../../db/engines/sqlite-snapshot.ts';
import { migrate, pendingMigrations } from '../../../db/migrate.ts';
import { versionOf } from '../../../db/migrations/index.ts';
import { NEWEST_VERSION, schemaVersion } from '../../../db/schema.ts';
import { raw, sql } from '../../../db/sql.ts';
import { allMigrations, type OwnedData } from '../../../storage/owned-data.ts';
import { type PostgresAccess, postgresPools } from '../../../storage/postgres-pools.ts';
import { liveWorkers } from '../../../storage/queue/workers.ts';

/** PostgreSQL: for a transaction that reads or writes a whole database. */
export const WITHOUT_TIMEOUTS = raw(`select set_config(name, '0', true) from
  (values ('statement_timeout'), ('idle_in_transaction_session_timeout')) as setting (name)`);

interface Owned {
  /** What extensions own in the database. */
  readonly owned?: readonly OwnedData[] | undefined;
}

interface SnapshotRules extends Pick<PostgresAccess, 'password_command'>, Owned {
  readonly while_running: boolean;
}

/**
 * One consistent moment of a database, which is not changed in any way. Throws `Unavailable` if a server uses the
 * database and `while_running` is false, or if its schema is not of this program's version.
 */
export function withSnapshot<T>(
  url: string,
  { while_running, password_command, owned }: SnapshotRules,
  use: (reader: Reader) => Promise<T>,
): Promise<T> {
  const path = sqlitePath(url);
  const checked = async (reader: Reader) => {
    await assertVersion(reader, owned);
    return use(reader);
  };
  return path === undefined
    ? withPostgresSnapshot({ url, password_command }, while_running, checked)
    : withSqliteSnapshot(path, while_running, checked);
}

async function withSqliteSnapshot<T>(
  path: string,
  while_running: boolean,
  use: (reader: Reader) => Promise<T>,
): Promise<T> {
  await using snapshot = openSqliteSnapshot(path);
  using lock = while_running ? undefined : holdSqlite(path);
  if (!lock && !while_running) throw inUse(path);
  return await use(snapshot);
}

async function withPostgresSnapshot<T>(
  access: PostgresAccess,
  while_running: boolean,
  use: (reader: Reader) => Promise<T>,
): Promise<T> {
  // A second connection, to see servers that start after the snapshot.
  await using db = postgresPools(access).open({ max_connections: 2, no_timeouts: true });
  const assertUnused = async () => {
    if (!while_running && (await liveWorkers(db)) > 0) throw inUse(`the source (${LEASE_NOTE})`);
  };
  try {
    await db.get(sql`select 1`);
  } catch (error) {
    throw postgresOpenError(access.url, error);
  }
  return await db.transaction('sync', async (tx) => {
    await tx.run(raw('set transaction isolation level repeatable read, read only'));
    await tx.all(WITHOUT_TIMEOUTS);
    if ((await schemaVersion(tx)) > 0) await assertUnused();
    const result = await use(tx);
    await assertUnused();
    return result;
  });
}

function inUse(what: string): Unavailable {
  return new Unavailable(
    `A server is using ${what}. Stop it first, or copy a snapshot with --while-running: the copy then lacks what the server writes afterwards.`,
  );
}

/** Why a database can count as used when nothing runs any more. */
export const LEASE_NOTE = 'a killed process counts for another 20 seconds';

async function assertVersion(reader: Reader, owned: Owned['owned']): Promise<void> {
  const version = await schemaVersion(reader);
  if (version === 0) throw new Unavailable('The source is empty: it has no tables of this server.');
  const detail = `The source is at schema version ${version}, but this program needs version ${NEWEST_VERSION}.`;
  if (version > NEWEST_VERSION) throw new Unavailable(`${detail} Run a newer version of the program.`);
  const migrateIt = 'Migrate it first with agent-server migrate.';
  if (version < NEWEST_VERSION) throw new Unavailable(`${detail} ${migrateIt}`);
  const pending = await pendingMigrations(reader, allMigrations(owned));
  if (pending.length === 0) return;
  throw new Unavailable(`The source lacks the migrations ${pending.map(versionOf).join(', ')}. ${migrateIt}`);
}

/** A database to copy into, migrated; a SQLite file is created, and locked against servers until it is closed. */
export async function openTarget(
  url: string,
  { password_command, owned }: Pick<PostgresAccess, 'password_command'> & Owned = {},
): Promise<Db> {
  const path = sqlitePath(url);
  const db =
    path === undefined
      ? postgresPools({ url, password_command }).open({ max_connections: 2, no_timeouts: true })
      : openSqlite(path, { synchronous: 'full', own_schema_only: true });
  try {
    await migrate(db, allMigrations(owned));
    return db;
  } catch (error) {
    await db[Symbol.asyncDispose]();
    throw path === undefined ? postgresOpenError(url, error) : error;
  }
}

/** Throws `Conflict` if the target has rows. */
export function assertEmpty(tables: readonly string[]): void {
  if (tables.length === 0) return;
  const some = tables.slice(0, 3).join(', ');
  throw new Conflict(
    `The target is not empty: it has rows in ${some}${tables.length > 3 ? ', …' : ''}. Copy into an empty database.`,
  );
}
