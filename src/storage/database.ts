import { existsSync } from 'node:fs';
import { systemClock } from '../core/clock.ts';
import { Unavailable } from '../core/errors.ts';
import { sleep } from '../core/timers.ts';
import type { Db } from '../db/db.ts';
import { postgresOpenError } from '../db/engines/postgres-errors.ts';
import { openSqlite } from '../db/engines/sqlite.ts';
import { sqlitePath } from '../db/engines/sqlite-files.ts';
import { type MigrationLog, migrate, pendingMigrations } from '../db/migrate.ts';
import { versionOf } from '../db/migrations/index.ts';
import { schemaVersion } from '../db/schema.ts';
import type { DatabaseStats } from '../schemas/system.ts';
import { allMigrations, type OwnedData } from './owned-data.ts';
import { checkConnections, poolSizes } from './pool-sizes.ts';
import { closePools, type PostgresAccess, postgresPools, statsOf } from './postgres-pools.ts';
import { assertNoCopy } from './unfinished-copy.ts';
import { untilReachable, type WaitRules } from './until-reachable.ts';

/** Which database, and how to open it. */
export interface DatabaseOptions extends PostgresAccess, WaitRules {
  readonly synchronous?: 'full' | 'normal';
  /** Connections of this process to PostgreSQL; 20 by default. */
  readonly max_connections?: number | undefined;
  /** What a start does about pending migrations; applies them by default. */
  readonly migrations?: 'apply' | 'wait' | 'refuse' | undefined;
  /** What extensions own in it; without it, they are unknown. */
  readonly owned?: readonly OwnedData[] | undefined;
  readonly log?: DatabaseLog | undefined;
}

/** Receives what a start reports about the database. */
export interface DatabaseLog {
  readonly info: MigrationLog;
  readonly warn: MigrationLog;
}

/**
 * On PostgreSQL requests and attempts have separate pools: a burst of requests must not delay an attempt's commit.
 * Leases are renewed over a connection of their own, by another thread. SQLite has a single writer anyway.
 */
export type Pools = Readonly<Record<'requests' | 'work', Db>>;

export interface Database extends AsyncDisposable {
  readonly pools: Pools;
  /** Connections to PostgreSQL that this process may open: none behind a pooler. */
  readonly max_connections: number;
  stats(): DatabaseStats;
}

/** Checks and completes a database that has been migrated. */
type Prepare = (db: Db) => Promise<void>;

/**
 * Opens the database of a server. Throws `Unavailable` if it is unreachable or unsupported, if another server has its
 * SQLite file open, if it grants too few connections, and if it is not migrated and must not be.
 */
export async function openDatabase(options: DatabaseOptions, prepare: Prepare): Promise<Database> {
  if (!isSqlite(options)) return openPostgresPools(options, prepare);
  const db = await openSqliteFile(options, prepare, { is_shared: false });
  return {
    pools: { requests: db, work: db },
    max_connections: 0,
    stats: () => ({ pools: {}, retries: {} }),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

export interface SharedDatabaseOptions extends DatabaseOptions {
  /** A SQLite file that does not exist is made. */
  readonly creates?: boolean;
  /** No server of an earlier version uses it: also migrations are applied that would break one. */
  readonly contracts?: boolean;
}

/**
 * Opens a database for a command, also while servers use it. Throws as `openDatabase` does, and `Unavailable` if its
 * SQLite file does not exist, unless the command `creates` it, or if a migration is pending that breaks servers of an
 * earlier version, unless it `contracts`.
 */
export async function openSharedDatabase(
  options: SharedDatabaseOptions,
  prepare: Prepare = async () => {},
): Promise<Db> {
  if (isSqlite(options)) {
    if (!options.creates) assertServed(sqlitePath(options.url) as string);
    return openSqliteFile(options, prepare, { is_shared: true });
  }
  const pools = postgresPools(options);
  return orClose(pools.open({ max_connections: COMMAND_CONNECTIONS }), options, async (db) => {
    await db.inspect();
    if (!options.contracts) await assertHarmless(db, options);
    await migratePostgres(options, pools);
    await assertNoCopy(db);
    await prepare(db);
  });
}

/** Throws `Unavailable` before a migration for which servers must be stopped: they may be running. */
async function assertHarmless(db: Db, { owned }: DatabaseOptions): Promise<void> {
  if ((await schemaVersion(db)) === 0) return;
  const harmful = (await pendingMigrations(db, allMigrations(owned))).filter(({ expands }) => !expands);
  if (harmful.length === 0) return;
  const versions = harmful.map(versionOf).join(', ');
  const detail = `The database lacks the migrations ${versions}, for which all servers must be stopped`;
  throw new Unavailable(`${detail}. Stop them, and start the new version or run "agent-server migrate".`);
}

/** Throws `Unavailable` if there is no such file: in a shell, variables of the server are easily missing. */
function assertServed(path: string): void {
  if (existsSync(path)) return;
  const place = 'DATABASE_URI and AGENT_SERVER_DATA_DIR must be those of the server';
  throw new Unavailable(`There is no database ${path}. ${place}, which makes it when it starts.`);
}

/** Opens a database as it is, without timeouts: for its migrations. Throws `Unavailable`. */
async function openUnmigratedDatabase(options: DatabaseOptions): Promise<Db> {
  if (isSqlite(options)) return openFile(options, { is_shared: true });
  const untimed = postgresPools(options).open({ max_connections: 1, no_timeouts: true });
  return orClose(untimed, options, async (db) => {
    await db.inspect();
  });
}

const COMMAND_CONNECTIONS = 4;

async function openPostgresPools(options: DatabaseOptions, prepare: Prepare): Promise<Database> {
  const { log } = options;
  const factory = postgresPools(options);
  const sizes = poolSizes(options.max_connections);
  let max_connections = sizes.total;
  const requests = await orClose(factory.open({ max_connections: sizes.requests }), options, async (db) => {
    const info = await untilReachable(() => db.inspect(), options);
    await migratePostgres(options, factory);
    await assertNoCopy(db);
    await prepare(db);
    const warning = await checkConnections(db, info, sizes);
    if (info.is_pooled) max_connections = 0;
    const { total: connections, ...by_purpose } = sizes;
    log?.info('connected to PostgreSQL', { ...info, connections, ...by_purpose });
    if (warning !== undefined) log?.warn(warning, {});
  });
  const pools = {
    requests,
    work: factory.open({ max_connections: sizes.work }),
  };
  return {
    pools,
    max_connections,
    stats: () => ({ pools: statsOf(pools), retries: factory.retries() }),
    [Symbol.asyncDispose]: () => closePools(pools),
  };
}

async function openSqliteFile(
  options: SharedDatabaseOptions,
  prepare: Prepare,
  file: { is_shared: boolean },
): Promise<Db> {
  const { log } = options;
  return orClose(openFile(options, file), options, async (db) => {
    if (file.is_shared && !options.contracts) await assertHarmless(db, options);
    // The steps of a migration interest who runs several servers; a new file of a project has all of them.
    await migrateAs({ ...options, log: log && { info: () => {}, warn: log.warn } }, db);
    await assertNoCopy(db);
    await prepare(db);
  });
}

function openFile(
  { url, synchronous = 'full', cipher }: DatabaseOptions,
  { is_shared: shared }: { is_shared: boolean },
): Db {
  const options = { synchronous, shared, own_schema_only: true, disk_reserve: !shared };
  return openSqlite(sqlitePath(url) as string, { ...options, ...(cipher && { cipher }) });
}

function isSqlite({ url }: DatabaseOptions): boolean {
  return sqlitePath(url) !== undefined;
}

/** Returns the database once it is ready, or closes it. */
async function orClose<T extends Db>(
  db: T,
  options: DatabaseOptions,
  makeReady: (db: T) => Promise<void>,
): Promise<T> {
  try {
    await makeReady(db);
    return db;
  } catch (error) {
    await db[Symbol.asyncDispose]();
    throw isSqlite(options) ? error : postgresOpenError(options.url, error);
  }
}

/** Migrations may take long: they have a connection without timeouts. */
async function migratePostgres(
  options: DatabaseOptions,
  { open }: ReturnType<typeof postgresPools>,
): Promise<void> {
  await using untimed = open({ max_connections: 1, no_timeouts: true });
  await migrateAs(options, untimed);
}

const WAIT_MS = 10 * 60_000;
const POLL_MS = 1000;

/** Applies pending migrations, or leaves them to `agent-server migrate`. */
async function migrateAs({ migrations = 'apply', owned, log }: DatabaseOptions, db: Db): Promise<void> {
  if (migrations === 'apply') return migrate(db, allMigrations(owned), log?.info);
  const deadline = systemClock.monotonic() + WAIT_MS;
  for (let said = false; ; said = true) {
    const pending = await pendingMigrations(db, allMigrations(owned));
    if (pending.length === 0) return;
    const versions = pending.map(versionOf).join(', ');
    const detail = `The database lacks the migrations ${versions}. Run "agent-server migrate" ("storage.migrations").`;
    if (migrations === 'refuse' || systemClock.monotonic() > deadline) throw new Unavailable(detail);
    if (!said) log?.warn(`${detail} Waiting for it.`, {});
    await sleep(POLL_MS);
  }
}

/** Opens a database for its migrations only. Throws `Unavailable` if it is unreachable or unsupported. */
export async function openMigrations(options: DatabaseOptions) {
  const db = await openUnmigratedDatabase(options);
  const known = allMigrations(options.owned);
  return {
    /** In order; changes nothing. Throws `Unavailable` if this program is too old for the database. */
    pending: () => pendingMigrations(db, known),
    /** Applies what is pending, or waits for the process that does. Throws as `pending`. */
    apply: (log: MigrationLog) => migrate(db, known, log),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
