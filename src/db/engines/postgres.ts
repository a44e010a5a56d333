import type pg from 'pg';
import { codeOf } from '../../core/errors.ts';
import { after } from '../../core/timers.ts';
import type { ConnectionStats } from '../../schemas/system.ts';
import type { CommitMode, Db } from '../db.ts';
import type { Cipher } from '../encryption/cipher.ts';
import type { SqlValue } from '../sql.ts';
import { executeBatch, type StatementResult } from './postgres-batch.ts';
import { cancelStatement } from './postgres-cancel.ts';
import { clientConfig } from './postgres-client.ts';
import { type Connections, type Lent, openConnections } from './postgres-connections.ts';
import { type PostgresDriver, type PostgresTransaction, postgresDb } from './postgres-db.ts';
import { isLost, isUnexecuted, postgresError } from './postgres-errors.ts';
import type { PasswordSource } from './postgres-password.ts';
import { inspectServer, type ServerInfo } from './postgres-server.ts';
import { BatchedTransaction } from './postgres-transaction.ts';

export interface PostgresOptions {
  /** Maximum pool size; 10 by default. */
  readonly max_connections?: number;
  /** Disables the timeouts: for migrations, which no client waits for. */
  readonly no_timeouts?: boolean;
  /** Without one, nothing is encrypted. */
  readonly cipher?: Cipher;
  /** Gives new connections their password, instead of the URL. */
  readonly password?: PasswordSource | undefined;
  /** Receives the error code of every statement and transaction that is tried again. */
  readonly onRetry?: ((code: string) => void) | undefined;
}

/** Without it a statement hung for 13 s when the network was cut (engine §4). */
const ANSWER_TIMEOUT_MS = 10_000;
/** Below `ANSWER_TIMEOUT_MS`: an error from the server leaves the connection usable. */
const STATEMENT_TIMEOUT_MS = 8000;

/**
 * Limits of a transaction, in the round trip of `begin`. As start-up parameters PgBouncer would refuse them, and a plain
 * `set` would leak into the sessions of others there. One statement: four `set local` took longer than most writes.
 */
const LIMITS = [
  `set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', true)`,
  `set_config('lock_timeout', '3000', true)`,
  `set_config('idle_in_transaction_session_timeout', '15000', true)`,
];

/** A pool of one database, as a `Db`. */
export interface PostgresPool extends Db {
  stats(): ConnectionStats;
  /** Throws `Unavailable` for a server that is not supported. */
  inspect(): Promise<ServerInfo>;
}

/**
 * Opens a pool. It connects lazily, so an unreachable database surfaces at the first statement. Throws `Unavailable` for
 * a URL whose parameters cannot be honoured.
 */
export function openPostgres(uri: string, options: PostgresOptions = {}): PostgresPool {
  const { max_connections: max = 10, no_timeouts = false, cipher, password, onRetry = () => {} } = options;
  const { config, targets } = clientConfig(uri);
  const connections = openConnections(
    { ...config, max, ...(!no_timeouts && { query_timeout: ANSWER_TIMEOUT_MS }) },
    { targets, password },
  );
  const driver = poolDriver({ connections, onRetry, limits: no_timeouts ? [] : LIMITS });
  return {
    ...postgresDb(driver, cipher, onRetry),
    stats: connections.stats,
    inspect: () =>
      inspectServer(connections).catch((error: unknown) => {
        throw postgresError(error);
      }),
  };
}

interface PoolParts {
  readonly connections: Connections;
  readonly onRetry: (code: string) => void;
  /** Calls of `set_config` at the beginning of a transaction. */
  readonly limits: readonly string[];
}

function poolDriver(parts: PoolParts): PostgresDriver {
  return {
    query: (text, values) => loneStatement(parts, text, values),
    transaction: (durability, body) => transaction(parts, durability, body),
    close: () => parts.connections.close(),
  };
}

/**
 * A statement in its own transaction, in one round trip. Its limit is kept by this process, which cancels it: a server-side
 * limit without `begin` would have to stay in the session.
 */
function loneStatement({ limits, ...parts }: PoolParts, text: string, values: readonly SqlValue[]) {
  return withConnection(parts, {
    has_transaction: false,
    async use({ client, discard, is_read_committed }) {
      const cancel = () => {
        // The request may arrive late, and would then hit a later statement.
        discard();
        cancelStatement(client);
      };
      using _limit = limits.length === 0 ? undefined : after(STATEMENT_TIMEOUT_MS, cancel);
      const isPlain = is_read_committed || OUTSIDE_TRANSACTIONS.test(text);
      return await (isPlain ? execute : executeReadCommitted)(client, text, values);
    },
    mayRepeat: (error) => isUnexecuted(error) || isRead(text),
  });
}

/** What PostgreSQL refuses within a transaction. */
const OUTSIDE_TRANSACTIONS = /^\s*(vacuum|(create|drop|reindex)\s+(unique\s+)?index\s+concurrently)\b/i;

/** The level for which all statements are written, whatever the default of the database is. */
const READ_COMMITTED = 'begin isolation level read committed';
const ASYNC_COMMIT = `set_config('synchronous_commit', 'off', true)`;

function transaction<T>(
  { limits, ...parts }: PoolParts,
  durability: CommitMode,
  body: (session: PostgresTransaction) => Promise<T>,
): Promise<T> {
  const settings = [...limits, ...(durability === 'async' ? [ASYNC_COMMIT] : [])];
  const begin = [
    durability === 'snapshot' ? 'begin isolation level repeatable read' : READ_COMMITTED,
    ...(settings.length > 0 ? [`select ${settings.join(', ')}`] : []),
  ];
  let committing = false;
  return withConnection(parts, {
    has_transaction: true,
    async use({ client }) {
      committing = false;
      using opened = new BatchedTransaction(client, begin);
      const result = await body(opened);
      committing = true;
      await opened.commit();
      return result;
    },
    // Without the answer to COMMIT it is unknown if the transaction took effect.
    mayRepeat: () => !committing,
  });
}

interface Attempt<T> {
  readonly has_transaction: boolean;
  use(lent: Lent): Promise<T>;
  /** Whether nothing can have taken effect, or a repetition changes nothing. */
  mayRepeat(error: unknown): boolean;
}

/**
 * Repeats once, on a new connection, after the connection was lost: pooled connections die while idle, and in every
 * restart and fail-over.
 */
async function withConnection<T>(
  { connections, onRetry }: Omit<PoolParts, 'limits'>,
  { has_transaction, use, mayRepeat }: Attempt<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    const lent = await connections.acquire();
    try {
      const result = await use(lent);
      lent.release();
      return result;
    } catch (error) {
      await lent.fail(error, { has_transaction: has_transaction || !lent.is_read_committed });
      if (tried > 1 || !isLost(error) || !mayRepeat(error)) throw error;
      onRetry(codeOf(error) || 'connection lost');
    }
  }
}

/** A statement that changes nothing, whatever becomes of its answer. */
function isRead(text: string): boolean {
  return /^\s*select\b/i.test(text);
}

/** The same in an explicit transaction, in one round trip. */
async function executeReadCommitted(client: pg.PoolClient, text: string, values: readonly SqlValue[]) {
  const [, result] = await executeBatch(client, [
    { text: READ_COMMITTED, values: [] },
    { text, values },
    { text: 'commit', values: [] },
  ]);
  const { rows, changes } = result as StatementResult;
  return { rows, changes };
}

async function execute(client: pg.PoolClient, text: string, values: readonly SqlValue[]) {
  const { rows, rowCount } = await client.query(text, [...values]);
  return { rows, changes: rowCount ?? 0 };
}
