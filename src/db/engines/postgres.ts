import pg from 'pg';
import type { Db } from '../db.ts';
import type { Cipher } from '../encryption/cipher.ts';
import { POSTGRES_PARSERS, type PostgresDriver, type PostgresSession, postgresDb } from './postgres-db.ts';
import { isConnectionError } from './postgres-errors.ts';

export interface PostgresOptions {
  /** Maximum pool size; 10 by default. */
  readonly max_connections?: number;
  /** Disables the timeouts: for migrations, which no client waits for. */
  readonly no_timeouts?: boolean;
  /** Without one, nothing is encrypted. */
  readonly cipher?: Cipher;
}

/** Bounds every wait: without `query_timeout` a statement hung for 13 s when the network was cut (ENGINE §4). */
const TIMEOUTS_MS = {
  lock_timeout: 3000,
  // Below `query_timeout`: an error from the server leaves the connection usable.
  statement_timeout: 8000,
  query_timeout: 10_000,
  idle_in_transaction_session_timeout: 15_000,
};

/** Opens a pool. It connects lazily, so an unreachable database surfaces at the first statement. */
export function openPostgres(
  uri: string,
  { max_connections = 10, no_timeouts = false, cipher }: PostgresOptions = {},
): Db {
  const pool = new pg.Pool({
    ...(no_timeouts ? {} : TIMEOUTS_MS),
    connectionTimeoutMillis: 3000,
    connectionString: uri,
    application_name: 'agent-server',
    keepAlive: true,
    max: max_connections,
    types: { getTypeParser: parserOf as typeof pg.types.getTypeParser },
  });
  // A broken connection emits `error` here and fails its current statement. Without a listener on every client, idle or
  // in use, a restart of the database would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return postgresDb(poolDriver(pool), cipher);
}

function parserOf(type: number, format?: 'text'): unknown {
  return POSTGRES_PARSERS[type] ?? pg.types.getTypeParser(type, format);
}

function poolDriver(pool: pg.Pool): PostgresDriver {
  return {
    query: (text, values) => withClient(pool, (client) => session(client).query(text, values)),
    transaction: (durability, body) =>
      withClient(pool, async (client) => {
        await client.query(durability === 'async' ? 'begin; set local synchronous_commit = off' : 'begin');
        const result = await body(session(client));
        // After a failed statement PostgreSQL answers COMMIT with ROLLBACK and no error.
        const { command } = await client.query('commit');
        if (command !== 'COMMIT')
          throw new Error('A statement of this transaction failed; it is rolled back.');
        return result;
      }),
    close: () => pool.end(),
  };
}

/** Returns the connection to the pool without an open transaction, or closes it. */
async function withClient<T>(pool: pg.Pool, use: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let usable = true;
  try {
    return await use(client);
  } catch (error) {
    // A timed-out statement still occupies the connection: a rollback would wait behind it.
    usable = !isConnectionError(error) && (await rollback(client));
    throw error;
  } finally {
    client.release(!usable);
  }
}

async function rollback(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}

function session(client: pg.PoolClient): PostgresSession {
  return {
    async query(text, values) {
      const { rows, rowCount } = await client.query(text, [...values]);
      return { rows, changes: rowCount ?? 0 };
    },
  };
}
