import type pg from 'pg';
import type { ConnectionStats } from '../../schemas/system.ts';
import { isConnectionError, isLost } from './postgres-errors.ts';
import { assertWritable, connectToAny, type PostgresServers, type PostgresTarget } from './postgres-hosts.ts';
import { postgresLibrary } from './postgres-library.ts';

/** A pool. Each connection is lent to one caller at a time. */
export interface Connections {
  /**
   * Lends a connection, which the caller gives back by `release` or `fail`. Rejects if none becomes free within
   * `connectionTimeoutMillis`, and if no host of the URL accepts one.
   */
  acquire(): Promise<Lent>;
  stats(): ConnectionStats;
  close(): Promise<void>;
}

export interface Lent {
  readonly client: pg.PoolClient;
  /** A lone statement is read committed too. False if the database or the role has another default level. */
  readonly is_read_committed: boolean;
  release(): void;
  /** Has it closed when it is given back. */
  discard(): void;
  /** Gives it back after an error: rolled back if it still works, else closed. */
  fail(error: unknown, options?: { has_transaction: boolean }): Promise<void>;
}

/** Opens a pool over the hosts of the URL. It connects lazily. */
export function openConnections(config: pg.PoolConfig, servers: PostgresServers): Connections {
  const { targets, password } = servers;
  const pool = new (postgresLibrary().Pool)({
    ...config,
    ...(password && { password: password.get }),
    ...connectionOptions(targets.current()),
    async onConnect(client) {
      if (targets.must_write) await assertWritable(client);
      await findIsolation(client);
    },
  });
  // A broken connection emits `error` here and fails its current statement. Without a listener on every client, idle or
  // in use, a restart of the database would end the process.
  pool.on('error', () => {});
  const epochs = new Epochs();
  const requests = { queued: 0, errors: 0 };
  pool.on('connect', (client) => {
    client.on('error', () => {});
    epochs.add(client);
  });
  return {
    async acquire() {
      for (;;) {
        if (pool.idleCount === 0 && pool.totalCount >= pool.options.max) requests.queued += 1;
        const client = await connect(pool, servers).catch((error: unknown) => {
          requests.errors += 1;
          throw error;
        });
        if (epochs.isCurrent(client)) return lend(client, epochs);
        client.release(true);
      }
    },
    stats: () => ({
      max: pool.options.max,
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      ...requests,
    }),
    close: () => pool.end(),
  };
}

function lend(client: pg.PoolClient, epochs: Epochs): Lent {
  let closes = false;
  return {
    client,
    is_read_committed: !otherIsolation.has(client),
    release: () => client.release(closes),
    discard: () => {
      closes = true;
    },
    async fail(error, { has_transaction } = { has_transaction: true }) {
      if (isLost(error)) epochs.end(client);
      // A timed-out statement still occupies the connection: a rollback would wait behind it.
      closes ||= isConnectionError(error) || (has_transaction && !(await rollback(client)));
      client.release(closes);
    },
  };
}

/** Connections whose default isolation level is not read committed. */
const otherIsolation = new WeakSet<object>();

/** Asked once: setting it for the session would leak into the sessions of others in PgBouncer. */
async function findIsolation(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(`select current_setting('default_transaction_isolation') as level`);
  if (rows[0]?.level !== 'read committed') otherIsolation.add(client);
}

/**
 * Connections to a server that went away. When one is lost, the idle ones of the same epoch most likely lead to the
 * same dead server or former primary: they are closed instead of failing one caller each.
 */
class Epochs {
  #current = 0;
  readonly #of = new WeakMap<object, number>();

  add(client: object): void {
    this.#of.set(client, this.#current);
  }

  isCurrent(client: object): boolean {
    return this.#of.get(client) === this.#current;
  }

  end(client: object): void {
    if (this.isCurrent(client)) this.#current++;
  }
}

function connect(pool: pg.Pool, servers: PostgresServers): Promise<pg.PoolClient> {
  return connectToAny(servers, (target) => {
    Object.assign(pool.options, connectionOptions(target));
    return pool.connect();
  });
}

function connectionOptions({ host, port, ssl }: PostgresTarget): pg.PoolConfig {
  return { host, port, ssl };
}

async function rollback(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('rollback');
    return true;
  } catch {
    return false;
  }
}
