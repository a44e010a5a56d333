import { entropy } from '../core/random.ts';
import { a2aPushRepository } from './a2a-push.ts';
import { a2aTaskRepository } from './a2a-tasks.ts';
import { apiKeyRepository } from './api-keys.ts';
import { assistantRepository } from './assistants.ts';
import { AttemptWrites, type AttemptWritesOptions } from './attempt-writes.ts';
import { checkpointRepository } from './checkpoints.ts';
import { cronFireRepository } from './cron-fires.ts';
import { cronRepository } from './crons.ts';
import type { Db } from './db.ts';
import { type Cipher, plainCipher } from './encryption/cipher.ts';
import { type RotationRules, rotate } from './encryption/rotate.ts';
import type { Sealer } from './encryption/sealer.ts';
import { SealingCipher } from './encryption/sealing-cipher.ts';
import { assertPlain, unlock } from './encryption/unlock.ts';
import { openPostgres } from './engines/postgres.ts';
import { openSqlite } from './engines/sqlite.ts';
import { idempotencyRepository } from './idempotency.ts';
import { migrate } from './migrate.ts';
import { OpenAttempts } from './open-attempts.ts';
import type { Lease } from './queue/lease.ts';
import { runQueue } from './queue/queue.ts';
import { runCheckpointRepository } from './run-checkpoints.ts';
import { runEventRepository } from './run-events.ts';
import { runRepository } from './runs.ts';
import { serverSecretRepository } from './server-secrets.ts';
import { sql } from './sql.ts';
import { storeItemRepository } from './store/items.ts';
import { threadLogRepository } from './thread-log.ts';
import { threadRepository } from './threads.ts';
import { webhookOutbox } from './webhooks/outbox.ts';
import type { RunWebhookRules } from './webhooks/run-ended.ts';

/** Everything that is kept, by noun. */
export type Storage = ReturnType<typeof storageOf> & AsyncDisposable;

export interface StorageOptions {
  /** `sqlite:` and an absolute path, or `postgres://…`. */
  readonly url: string;
  readonly synchronous: 'full' | 'normal';
  /** What is sealed at rest is sealed with it; nothing is without one. */
  readonly sealer?: Sealer | undefined;
  /** Whether the ends of runs are told to their webhooks; they are unless it is said. */
  readonly webhooks?: RunWebhookRules;
}

/**
 * Opens the database and brings its schema up to date. Throws `Unavailable` when it cannot be reached, when another
 * server has its SQLite file, or when it is encrypted and `sealer` does not have its key.
 */
export async function openStorage({ url, synchronous, sealer, webhooks }: StorageOptions): Promise<Storage> {
  const cipher = sealer && new SealingCipher(sealer);
  const db = await openDatabase(url, { synchronous, cipher: cipher ?? plainCipher }, (opened) =>
    cipher ? unlock(opened, cipher, entropy()) : assertPlain(opened),
  );
  return { ...storageOf(db, webhooks), [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

/** Only the keys, also of a SQLite file that a server has open. */
export async function openApiKeys({ url }: Pick<StorageOptions, 'url'>) {
  const db = await openDatabase(url, { synchronous: 'full', beside_a_server: true });
  return { apiKeys: apiKeyRepository(db), [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

/** To seal what is stored under another key, beside servers. Throws as `openStorage` does. */
export async function openEncryption({ url, sealer }: { readonly url: string; readonly sealer: Sealer }) {
  const cipher = new SealingCipher(sealer);
  const db = await openDatabase(url, { synchronous: 'full', beside_a_server: true, cipher }, (opened) =>
    unlock(opened, cipher, entropy()),
  );
  return {
    rotate: (rules: RotationRules) => rotate(db, cipher, rules),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

interface DatabaseOptions {
  readonly synchronous: 'full' | 'normal';
  readonly beside_a_server?: boolean;
  readonly cipher?: Cipher;
}

async function openDatabase(
  url: string,
  options: DatabaseOptions,
  prepare: (db: Db) => Promise<void> = async () => {},
): Promise<Db> {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  const db = path === undefined ? openPostgres(url, options) : openSqlite(path, options);
  try {
    await migrate(db);
    await prepare(db);
    return db;
  } catch (error) {
    await db[Symbol.asyncDispose]();
    throw error;
  }
}

function storageOf(db: Db, webhooks?: RunWebhookRules) {
  const open = new OpenAttempts();
  return {
    /** Rejects when the database does not answer. */
    async ping(): Promise<void> {
      await db.get(sql`select 1`);
    },
    a2aPush: a2aPushRepository(db),
    a2aTasks: a2aTaskRepository(db),
    apiKeys: apiKeyRepository(db),
    assistants: assistantRepository(db),
    crons: cronRepository(db),
    cronFires: cronFireRepository(db),
    threads: threadRepository(db),
    runs: runRepository(db),
    queue: runQueue(db, webhooks),
    outbox: webhookOutbox(db),
    events: runEventRepository(db),
    runCheckpoints: runCheckpointRepository(db, open),
    threadLog: threadLogRepository(db),
    idempotency: idempotencyRepository(db),
    attemptWrites: (lease: Lease, options: AttemptWritesOptions) =>
      new AttemptWrites(db, lease, options, open),
    checkpoints: checkpointRepository(db, open),
    secrets: serverSecretRepository(db),
    storeItems: storeItemRepository(db),
  };
}
