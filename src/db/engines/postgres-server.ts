import { Unavailable } from '../../core/errors.ts';
import type { Connections } from './postgres-connections.ts';

/** Facts that a server reports about itself. */
export interface ServerInfo {
  /** Such as 15.8. */
  readonly version: string;
  /**
   * A pooler such as PgBouncer is in between, which has few connections to the server for many of ours. A session then
   * has another process id than the connection was told.
   */
  readonly is_pooled: boolean;
  /** Connections that the server grants this user and this database. */
  readonly allowed_connections: number;
}

const OLDEST = 13;

const SERVER_INFO = `
  select pg_backend_pid() as pid, current_setting('max_connections')::int
      - coalesce(current_setting('superuser_reserved_connections', true)::int, 0)
      - coalesce(current_setting('reserved_connections', true)::int, 0) as server_limit,
    (select rolconnlimit from pg_roles where rolname = current_user) as role_limit,
    (select datconnlimit from pg_database where datname = current_database()) as database_limit`;

interface InfoRow {
  readonly pid: number;
  readonly server_limit: number;
  /** −1 without a limit. */
  readonly role_limit: number | null;
  readonly database_limit: number | null;
}

/** Throws `Unavailable` for a server that is not supported. */
export async function inspectServer(connections: Connections): Promise<ServerInfo> {
  const lent = await connections.acquire();
  const { client } = lent;
  try {
    const { rows } = await client.query<{ version: string }>('select version()');
    const version = supportedVersion(rows[0]?.version ?? '');
    const [info] = (await client.query<InfoRow>(SERVER_INFO)).rows as [InfoRow];
    lent.release();
    const limits = [info.server_limit, info.role_limit, info.database_limit];
    return {
      version,
      is_pooled: (client as { processID?: unknown }).processID !== info.pid,
      allowed_connections: Math.min(
        ...limits.map((limit) => (limit === null || limit < 0 ? Infinity : limit)),
      ),
    };
  } catch (error) {
    await lent.fail(error);
    throw error;
  }
}

/** The version in the answer to `select version()`. Throws `Unavailable` if the server is not a supported PostgreSQL. */
export function supportedVersion(answer: string): string {
  if (/cockroach/i.test(answer)) {
    throw new Unavailable(
      'CockroachDB is not supported: it has no LISTEN, and its locks skip rows that are free. Use PostgreSQL.',
    );
  }
  const version = /^PostgreSQL (\d+[.\w]*)/.exec(answer)?.[1];
  if (version === undefined)
    throw new Unavailable(`The database is not PostgreSQL but "${answer.slice(0, 60)}".`);
  if (Number.parseInt(version, 10) >= OLDEST) return version;
  throw new Unavailable(`PostgreSQL ${version} is too old: use ${OLDEST} or newer.`);
}
