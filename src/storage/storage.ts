import { bufferedRandomBytes } from '../core/random.ts';
import type { Db } from '../db/db.ts';
import { type Cipher, type Encryptor, plainCipher } from '../db/encryption/cipher.ts';
import { EncryptingCipher } from '../db/encryption/encrypting-cipher.ts';
import { openPostgres } from '../db/engines/postgres.ts';
import { postgresOpenError } from '../db/engines/postgres-errors.ts';
import { openSqlite } from '../db/engines/sqlite.ts';
import { migrate } from '../db/migrate.ts';
import { sql } from '../db/sql.ts';
import { a2aPushRepository } from './a2a/push-configs.ts';
import { a2aTaskRepository } from './a2a/tasks.ts';
import { apiKeyRepository } from './access/api-keys.ts';
import { serverSecretRepository } from './access/server-secrets.ts';
import { assistantRepository } from './assistants/assistants.ts';
import { checkpointRepository } from './checkpoints/checkpoints.ts';
import { cronFireRepository, cronRepository } from './crons/crons.ts';
import { type RotationOptions, rotate } from './encryption/rotate.ts';
import { assertPlain, unlock } from './encryption/unlock.ts';
import { idempotencyRepository } from './idempotency.ts';
import type { QueueReport } from './queue/context.ts';
import { runQueue } from './queue/queue.ts';
import { runEventRepository } from './runs/events.ts';
import type { Lease } from './runs/lease.ts';
import { logEnds, runCheckpointRepository } from './runs/log-positions.ts';
import { runRepository } from './runs/runs.ts';
import { threadLogRepository } from './runs/thread-log.ts';
import { ActiveAttempts, WriteBuffer, type WriteBufferOptions } from './runs/write-buffer.ts';
import { storeItemRepository } from './store/items.ts';
import { threadRepository } from './threads/threads.ts';
import { webhookOutbox } from './webhooks/outbox.ts';
import type { RunWebhookRules } from './webhooks/run-ended.ts';

/** All repositories, by noun. */
export type Storage = ReturnType<typeof createStorage> & AsyncDisposable;

export interface StorageOptions {
  /** `sqlite:` and an absolute path, or `postgres://…`. */
  readonly url: string;
  readonly synchronous: 'full' | 'normal';
  /** Encrypts at rest; `undefined` stores plaintext. */
  readonly encryptor?: Encryptor | undefined;
  /** Rules for run webhooks; sent by default. */
  readonly webhooks?: RunWebhookRules;
  /** Receives reports of runs that the queue could not process. */
  readonly report?: QueueReport;
}

/**
 * Opens the database and migrates its schema. Throws `Unavailable` if it is unreachable, if another server has its
 * SQLite file open, or if it is encrypted and `encryptor` lacks its key.
 */
export async function openStorage({
  url,
  synchronous,
  encryptor,
  ...options
}: StorageOptions): Promise<Storage> {
  const cipher = encryptor && new EncryptingCipher(encryptor);
  const db = await openDatabase(url, { synchronous, cipher: cipher ?? plainCipher }, (database) =>
    cipher ? unlock(database, cipher, bufferedRandomBytes()) : assertPlain(database),
  );
  const pools = poolsOf(url, db, cipher);
  return {
    ...createStorage(pools, options),
    async [Symbol.asyncDispose]() {
      await Promise.all([...new Set(Object.values(pools))].map((pool) => pool[Symbol.asyncDispose]()));
    },
  };
}

/**
 * On PostgreSQL requests, attempts and leases have separate pools: a burst of requests must not delay an attempt's
 * commit, and nothing may delay a lease renewal. Together fewer than 20 connections per process (ENGINE §4). SQLite has
 * a single writer anyway.
 */
interface Pools {
  readonly requests: Db;
  readonly work: Db;
  readonly leases: Db;
}

const WORK_CONNECTIONS = 8;
const LEASE_CONNECTIONS = 1;

function poolsOf(url: string, requests: Db, cipher: Cipher | undefined): Pools {
  if (requests.dialect === 'sqlite') return { requests, work: requests, leases: requests };
  const pool = (max_connections: number) => openPostgres(url, { max_connections, ...(cipher && { cipher }) });
  return { requests, work: pool(WORK_CONNECTIONS), leases: pool(LEASE_CONNECTIONS) };
}

/** Opens API keys only, even while a server has the SQLite file open. */
export async function openApiKeys({ url }: Pick<StorageOptions, 'url'>) {
  const db = await openDatabase(url, { synchronous: 'full', shared: true });
  return { apiKeys: apiKeyRepository(db), [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

/** Opens key rotation, online beside running servers. Throws as `openStorage` does. */
export async function openKeyRotation({
  url,
  encryptor,
}: {
  readonly url: string;
  readonly encryptor: Encryptor;
}) {
  const cipher = new EncryptingCipher(encryptor);
  const db = await openDatabase(url, { synchronous: 'full', shared: true, cipher }, (database) =>
    unlock(database, cipher, bufferedRandomBytes()),
  );
  return {
    rotate: (rules: RotationOptions) => rotate(db, cipher, rules),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

interface DatabaseOptions {
  readonly synchronous: 'full' | 'normal';
  readonly shared?: boolean;
  readonly cipher?: Cipher;
}

async function openDatabase(
  url: string,
  options: DatabaseOptions,
  prepare: (db: Db) => Promise<void> = async () => {},
): Promise<Db> {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  const db =
    path === undefined
      ? openPostgres(url, options)
      : openSqlite(path, { ...options, own_schema_only: true, disk_reserve: !options.shared });
  try {
    await runMigrations(url, db);
    await prepare(db);
    return db;
  } catch (error) {
    await db[Symbol.asyncDispose]();
    throw path === undefined ? postgresOpenError(url, error) : error;
  }
}

/** Migrations may take long and wait for another server's: use a connection without timeouts. */
async function runMigrations(url: string, db: Db): Promise<void> {
  if (db.dialect === 'sqlite') return migrate(db);
  await using untimed = openPostgres(url, { max_connections: 1, no_timeouts: true });
  await migrate(untimed);
}

function createStorage({ requests, work, leases }: Pools, options: QueueOptions) {
  const active = new ActiveAttempts();
  return {
    /** Rejects if the database does not respond. */
    async ping(): Promise<void> {
      await requests.get(sql`select 1`);
    },
    ...repositories(requests, active, options),
    assistants: assistantRepository(requests),
    crons: cronRepository(requests),
    runs: runRepository(requests),
    runCheckpoints: runCheckpointRepository(requests, active),
    threadLog: threadLogRepository(requests),
    logEnds: logEnds(requests),
    apiKeys: apiKeyRepository(requests),
    a2aPush: a2aPushRepository(requests),
    secrets: serverSecretRepository(requests),
    /** The same repositories for background work, on separate connections. */
    work: {
      ...repositories(work, active, { ...options, leases }),
      writeBuffer: (lease: Lease, attempt: WriteBufferOptions) =>
        new WriteBuffer(work, lease, attempt, active),
    },
  };
}

type QueueOptions = Pick<StorageOptions, 'webhooks' | 'report'>;

function repositories(
  db: Db,
  open: ActiveAttempts,
  { leases = db, ...options }: QueueOptions & { leases?: Db },
) {
  return {
    a2aTasks: a2aTaskRepository(db),
    cronFires: cronFireRepository(db),
    threads: threadRepository(db),
    queue: runQueue(db, { ...options, leases }),
    outbox: webhookOutbox(db),
    events: runEventRepository(db),
    idempotency: idempotencyRepository(db),
    checkpoints: checkpointRepository(db, open),
    storeItems: storeItemRepository(db),
  };
}
