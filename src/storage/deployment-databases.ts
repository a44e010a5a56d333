import { systemClock } from '../core/clock.ts';
import { Unavailable } from '../core/errors.ts';
import { sleep } from '../core/timers.ts';
import { number, text } from '../db/columns.ts';
import { holdLock } from '../db/engines/postgres-lock.ts';
import { passwordFrom } from '../db/engines/postgres-password.ts';
import { withSchema } from '../db/engines/postgres-url.ts';
import { sqlitePath } from '../db/engines/sqlite-files.ts';
import { hasTable } from '../db/schema.ts';
import { raw, sql } from '../db/sql.ts';
import type { DatabaseLog } from './database.ts';
import type { DeploymentFiles } from './deployments/files.ts';
import { type PostgresAccess, postgresPools } from './postgres-pools.ts';

/** The databases of deployments: on SQLite a file of each, on PostgreSQL a schema. */
export interface DeploymentDatabases extends AsyncDisposable {
  /** URL of the database of a deployment; makes it if there is none. */
  open(deployment: { readonly deployment_id: string; readonly name: string }): Promise<string>;
  /** Deletes a schema with all that is in it; a file is one of the files of the deployment. */
  drop(deployment_id: string): Promise<void>;
  /** Throws `Unavailable` if another process has taken the deployments over. */
  assertOwned(): void;
}

export interface DeploymentDatabaseOptions extends PostgresAccess {
  readonly files: DeploymentFiles;
  /** Connections that the server itself may open, and each deployment. */
  readonly connections: { readonly server: number; readonly each: number };
  readonly log: DatabaseLog;
  /** Another process has taken the deployments over. */
  readonly onTaken: () => void;
}

/** Lock of the one process on a schema of PostgreSQL that has its deployments. */
const LOCK_KEY = 491_913_175;
/** How long a start waits for a process that ends just now, ms. */
const WAIT_MS = 30_000;
const POLL_MS = 500;

/**
 * Takes the deployments of a database. Throws `Unavailable` if another process has them, or if the database cannot have
 * a schema for each.
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

/** A deployment that has a database. */
export interface StoredDeployment {
  readonly name: string;
  readonly url: string;
}

/** The databases that deployments have now, for commands beside the server. Throws `Unavailable` without PostgreSQL. */
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

  /** Schemas have many tables: to drop one may take longer than a request. */
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
        throw new Unavailable('Another process has the deployments of this database now. Ask that one.');
    },
    [Symbol.asyncDispose]: () => lock[Symbol.asyncDispose](),
  };
}

/** By id, not by name: needs no quotes, fits in 63 characters, and one that is made again starts empty. */
function schemaOf(deployment_id: string): string {
  if (!/^[0-9a-f-]{36}$/.test(deployment_id)) throw new Error('not the id of a deployment');
  return `deployment_${deployment_id.replaceAll('-', '')}`;
}

/** Returns the connections that are allowed. Throws `Unavailable`. */
async function requireSchemas(pools: ReturnType<typeof postgresPools>): Promise<number> {
  await using db = pools.open({ max_connections: 1 });
  const { is_pooled, allowed_connections } = await db.inspect();
  if (is_pooled) {
    throw new Unavailable(
      'Deployments need PostgreSQL itself ("storage.url"): a pooler refuses the option that chooses the schema of each.',
    );
  }
  const right = await db.get(
    sql`select has_database_privilege(current_database(), 'CREATE')::int as ${number('may_create')}`,
  );
  if (right?.may_create === 1) return allowed_connections;
  throw new Unavailable(
    'Each deployment has a schema of its own, which this user may not create: grant create on database … to it.',
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
        'Another process of this database has deployments, and one builds and serves them: end it, or set "deployments.enabled" to false for this one.',
      );
    }
    if (!said) log.warn('another process of this database has deployments: waiting for its end', {});
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
