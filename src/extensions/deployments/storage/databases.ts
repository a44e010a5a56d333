import { systemClock } from '../../../core/clock.ts';
import { Unavailable } from '../../../core/errors.ts';
import { sleep } from '../../../core/timers.ts';
import { number, text } from '../../../db/columns.ts';
import { holdLock } from '../../../db/engines/postgres-lock.ts';
import { passwordFrom } from '../../../db/engines/postgres-password.ts';
import { withSchema } from '../../../db/engines/postgres-url.ts';
import { sqlitePath } from '../../../db/engines/sqlite-files.ts';
import { hasTable } from '../../../db/schema.ts';
import { raw, sql } from '../../../db/sql.ts';
import type { DatabaseLog } from '../../../storage/database.ts';
import { type PostgresAccess, postgresPools } from '../../../storage/postgres-pools.ts';
import type { DeploymentFiles } from './files.ts';

/** Databases of deployments: on SQLite one file each, on PostgreSQL one schema each. */
export interface DeploymentDatabases extends AsyncDisposable {
  /** Database URL of a deployment; creates the database if missing. */
  open(deployment: { readonly deployment_id: string; readonly name: string }): Promise<string>;
  /** Drops the schema with everything in it; a SQLite file belongs to the deployment's files. */
  drop(deployment_id: string): Promise<void>;
  /** Throws `Unavailable` if another process has taken over the deployments. */
  assertOwned(): void;
}

export interface DeploymentDatabaseOptions extends PostgresAccess {
  readonly files: DeploymentFiles;
  /** Maximum connections of the server itself, and of each deployment. */
  readonly connections: { readonly server: number; readonly each: number };
  readonly log: DatabaseLog;
  /** Called when another process has taken over the deployments. */
  readonly onTaken: () => void;
}

/** Name of the advisory lock for the single process that owns the deployments of a PostgreSQL schema. */
const LOCK_KEY = 491_913_175;
/** How long a start waits for a process that is just exiting, ms. */
const WAIT_MS = 30_000;
const POLL_MS = 500;

/**
 * Acquires the deployments of a database. Throws `Unavailable` if another process holds them, or if the database cannot
 * have a schema for each.
 */
export async function deploymentDatabases(options: DeploymentDatabaseOptions): Promise<DeploymentDatabases> {
  const { url, files } = options;
  if (sqlitePath(url) === undefined) return schemas(options);
  return {
    open: async ({ name }) => `sqlite:${await files.database(name)}`,
    drop: async () => {},
    assertOwned: () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A deployment with a database. */
export interface StoredDeployment {
  readonly name: string;
  readonly url: string;
}

/**
 * Existing databases of deployments, for commands that run alongside the server. Throws `Unavailable` without PostgreSQL.
 */
export async function storedDeployments({
  files,
  ...access
}: PostgresAccess & { readonly files: DeploymentFiles }): Promise<StoredDeployment[]> {
  if (sqlitePath(access.url) === undefined) return storedSchemas(access);
  const found = await Promise.all(
    (await files.names()).map(async (name) => ({ name, path: await files.existingDatabase(name) })),
  );
  return found.flatMap(({ name, path }) => (path === undefined ? [] : [{ name, url: `sqlite:${path}` }]));
}

async function storedSchemas(access: PostgresAccess): Promise<StoredDeployment[]> {
  await using db = postgresPools(access).open({ max_connections: 1 });
  if (!(await hasTable(db, 'deployments'))) return [];
  const rows = await db.all(
    sql`select ${text('name')}, ${text('deployment_id')} from deployments order by name`,
  );
  const stored: StoredDeployment[] = [];
  for (const { name, deployment_id } of rows) {
    const schema = schemaOf(deployment_id);
    const found = await db.get(
      sql`select 1 as ${number('found')} from pg_namespace where nspname = ${schema}`,
    );
    if (found) stored.push({ name, url: withSchema(access.url, schema) });
  }
  return stored;
}

async function schemas(options: DeploymentDatabaseOptions): Promise<DeploymentDatabases> {
  const { url, connections, log } = options;
  const pools = postgresPools(options);
  const allowed = await requireSchemas(pools);
  let isTaken = false;
  const lock = await untilLocked(options, () => {
    isTaken = true;
    options.onTaken();
  });
  const opened = new Set<string>();

  /** A schema has many tables: dropping it may take longer than a request. */
  async function run(statement: string): Promise<void> {
    await using untimed = pools.open({ max_connections: 1, no_timeouts: true });
    await untimed.run(raw(statement));
  }

  return {
    async open({ deployment_id }) {
      const schema = schemaOf(deployment_id);
      await run(`create schema if not exists ${schema}`);
      if (!opened.has(schema)) warnAbove(allowed, { ...connections, deployments: opened.size + 1 }, log);
      opened.add(schema);
      return withSchema(url, schema);
    },
    async drop(deployment_id) {
      await run(`drop schema if exists ${schemaOf(deployment_id)} cascade`);
      opened.delete(schemaOf(deployment_id));
    },
    assertOwned() {
      if (isTaken)
        throw new Unavailable(
          'Another process serves the deployments of this database now. Send the request to that process.',
        );
    },
    [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
  };
}

/** Named by id: needs no quotes, fits in 63 characters, and a recreated deployment starts empty. */
function schemaOf(deployment_id: string): string {
  if (!/^[0-9a-f-]{36}$/.test(deployment_id)) throw new Error('not the id of a deployment');
  return `deployment_${deployment_id.replaceAll('-', '')}`;
}

/** Returns the number of allowed connections. Throws `Unavailable`. */
async function requireSchemas(pools: ReturnType<typeof postgresPools>): Promise<number> {
  await using db = pools.open({ max_connections: 1 });
  const { is_pooled, allowed_connections } = await db.inspect();
  if (is_pooled) {
    throw new Unavailable(
      'Deployments need a direct connection to PostgreSQL ("storage.url"): the connection pooler rejects the option that selects the schema of each.',
    );
  }
  const right = await db.get(
    sql`select has_database_privilege(current_database(), 'CREATE')::int as ${number('may_create')}`,
  );
  if (right?.may_create === 1) return allowed_connections;
  throw new Unavailable(
    'Each deployment has its own schema, which this database user may not create: "grant create on database … to …" allows it.',
  );
}

async function untilLocked(
  { url, password_command, log }: DeploymentDatabaseOptions,
  onTaken: () => void,
): Promise<AsyncDisposable> {
  const password = password_command === undefined ? undefined : passwordFrom(password_command);
  const deadline = systemClock.monotonic() + WAIT_MS;
  for (let said = false; ; said = true) {
    const lock = await holdLock({ url, password, key: LOCK_KEY, onTaken });
    if (lock) return lock;
    if (systemClock.monotonic() > deadline) {
      throw new Unavailable(
        'Another process on this database has deployments enabled, and only one may build and serve them: stop that process, or set "deployments.enabled" to false for this one.',
      );
    }
    if (!said)
      log.warn('another process on this database has deployments enabled: waiting until it stops', {});
    await sleep(POLL_MS);
  }
}

function warnAbove(
  allowed: number,
  { server, each, deployments }: { server: number; each: number; deployments: number },
  log: DatabaseLog,
): void {
  const total = server + deployments * each;
  if (total <= allowed) return;
  log.warn('PostgreSQL grants fewer connections than the server and its deployments may open', {
    ...{ connections: total, allowed_connections: allowed, deployments },
    remedy:
      'Lower deployments.max_connections or storage.max_connections, or raise max_connections of PostgreSQL.',
  });
}
