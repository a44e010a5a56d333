import { bufferedRandomBytes } from '../core/random.ts';
import { bind } from '../db/bind.ts';
import type { Db } from '../db/db.ts';
import type { Encryptor } from '../db/encryption/cipher.ts';
import { EncryptingCipher } from '../db/encryption/encrypting-cipher.ts';
import { sqlitePath } from '../db/engines/sqlite-files.ts';
import { sql } from '../db/sql.ts';
import type { DatabaseStats } from '../schemas/system.ts';
import { apiKeyRepository } from './access/api-keys.ts';
import { serverSecretRepository } from './access/server-secrets.ts';
import { visibleIds } from './access/visible-ids.ts';
import { assistantRepository } from './assistants/assistants.ts';
import { checkpointRepository } from './checkpoints/checkpoints.ts';
import { cronFireRepository, cronRepository } from './crons/crons.ts';
import {
  type DatabaseOptions,
  openDatabase,
  openSharedDatabase,
  type Pools,
  type SharedDatabaseOptions,
} from './database.ts';
import { ENCRYPTED_TABLES } from './encryption/columns.ts';
import { type RotationOptions, rotate } from './encryption/rotate.ts';
import { assertPlain, unlock } from './encryption/unlock.ts';
import { idempotencyRepository, idempotentRuns } from './idempotency.ts';
import { notifications } from './notifications.ts';
import { overviewReader, storageBytes } from './overview.ts';
import type { OwnedData } from './owned-data.ts';
import { processRepository } from './processes.ts';
import type { Fairness } from './queue/claim-fairly.ts';
import type { QueueContext, QueueReport } from './queue/context.ts';
import { runQueue } from './queue/queue.ts';
import { Riders } from './riders.ts';
import { ActiveAttempts } from './runs/active-attempts.ts';
import { runEventRepository } from './runs/events.ts';
import type { Lease } from './runs/lease.ts';
import { logEnds, runCheckpointRepository } from './runs/log-positions.ts';
import { findNewestLogs, newestLogTime } from './runs/newest-logs.ts';
import { deleteUnlisted } from './runs/removed-runs.ts';
import { runLogRepository } from './runs/run-logs.ts';
import { runRepository } from './runs/runs.ts';
import { runSearchRepository } from './runs/search.ts';
import { runStepRepository } from './runs/steps.ts';
import { threadLogRepository } from './runs/thread-log.ts';
import { WriteBuffer, type WriteBufferOptions } from './runs/write-buffer.ts';
import { storeItemRepository } from './store/items.ts';
import { interruptAnswerRepository } from './threads/interrupt-answers.ts';
import { interruptRepository } from './threads/interrupts.ts';
import { threadRepository } from './threads/threads.ts';
import { webhookOutbox } from './webhooks/outbox.ts';
import type { RunWebhookRules } from './webhooks/run-ended.ts';

/** All repositories, by noun, for one app. */
export type Storage = ReturnType<typeof createStorage> & { databaseStats(): DatabaseStats };

export interface OpenStorage extends Storage, AsyncDisposable {
  /** For another app on the same database: with riders of its own, as its extensions may be others. */
  ofApp(): Storage;
}

export interface StorageOptions extends Omit<DatabaseOptions, 'cipher'> {
  /** Encrypts at rest; `undefined` stores plaintext. */
  readonly encryptor?: Encryptor | undefined;
  /** Rules for run webhooks; sent by default. */
  readonly webhooks?: RunWebhookRules;
  /** First come, first served by default. */
  readonly fairness?: Fairness;
  /** Receives reports of runs that the queue could not process. */
  readonly report?: QueueReport;
  readonly placement?: QueueContext['placement'];
}

/**
 * Opens the database and migrates its schema. Throws `Unavailable` if it is unreachable, if another server has its
 * SQLite file open, or if it is encrypted and `encryptor` lacks its key.
 */
export async function openStorage({
  encryptor,
  webhooks,
  report,
  fairness,
  placement,
  ...options
}: StorageOptions): Promise<OpenStorage> {
  const cipher = encryptor && new EncryptingCipher(encryptor);
  const database = await openDatabase({ ...options, cipher }, (db) =>
    cipher ? unlock(db, cipher, bufferedRandomBytes()) : assertPlain(db),
  );
  const active = new ActiveAttempts();
  const ofApp = () => ({
    ...createStorage(database.pools, active, {
      ...(webhooks && { webhooks }),
      ...(report && { report }),
      ...(fairness && { fairness }),
      placement,
      path: sqlitePath(options.url),
      owned: options.owned ?? [],
      max_connections: database.max_connections,
    }),
    /** Connections and retries of this process. */
    databaseStats: database.stats,
  });
  return { ...ofApp(), ofApp, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

/** Opens API keys only, even while a server has the SQLite file open. */
export async function openApiKeys(options: SharedDatabaseOptions) {
  const db = await openSharedDatabase(options);
  return { apiKeys: apiKeyRepository(db), [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

/** Opens key rotation, online while servers run. Throws as `openStorage` does. */
export async function openKeyRotation({
  encryptor,
  ...options
}: Omit<SharedDatabaseOptions, 'cipher'> & { readonly encryptor: Encryptor }) {
  const cipher = new EncryptingCipher(encryptor);
  const db = await openSharedDatabase({ ...options, cipher }, (database) =>
    unlock(database, cipher, bufferedRandomBytes()),
  );
  const tables = [...(options.owned ?? []).flatMap(({ encrypted = [] }) => encrypted), ...ENCRYPTED_TABLES];
  return {
    rotate: (rules: RotationOptions) => rotate(db, cipher, tables, rules),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

function createStorage({ requests, work }: Pools, active: ActiveAttempts, given: RepositoryOptions) {
  const riders = new Riders([idempotentRuns]);
  const options = { ...given, riders };
  return {
    riders,
    /** Rejects if the database does not respond. */
    async ping(): Promise<void> {
      await requests.get(sql`select 1`);
    },
    /** Size of the stored data, bytes. */
    bytes: () => storageBytes(requests),
    ...repositories(requests, active, options),
    assistants: assistantRepository(requests),
    crons: cronRepository(requests),
    runs: runRepository(requests),
    runSteps: runStepRepository(requests, active),
    runSearch: runSearchRepository(requests),
    newestLogs: bind(requests, { find: findNewestLogs, newestTime: newestLogTime }),
    interrupts: interruptRepository(requests),
    interruptAnswers: interruptAnswerRepository(requests),
    runCheckpoints: runCheckpointRepository(requests, active),
    threadLog: threadLogRepository(requests),
    logEnds: logEnds(requests),
    apiKeys: apiKeyRepository(requests),
    secrets: serverSecretRepository(requests),
    ...bind(requests, { visibleIds }),
    notifications: notifications(requests),
    overview: overviewReader(requests),
    /** For extensions, which have statements of their own. */
    database: {
      ...{ db: requests, background: work, path: options.path, max_connections: options.max_connections },
      owned: options.owned,
    },
    processes: processRepository(requests),
    /** The same repositories for background work, on separate connections. */
    work: {
      ...repositories(work, active, options),
      removedRuns: bind(work, { deleteUnlisted }),
      /** For background work of extensions. */
      db: work,
      writeBuffer: (lease: Lease, attempt: WriteBufferOptions) =>
        new WriteBuffer(work, lease, attempt, { active, riders }),
    },
  };
}

type QueueOptions = Pick<StorageOptions, 'webhooks' | 'report' | 'fairness' | 'placement'>;
type RepositoryOptions = QueueOptions & {
  readonly path: string | undefined;
  readonly owned: readonly OwnedData[];
  readonly max_connections: number;
};

function repositories(
  db: Db,
  open: ActiveAttempts,
  options: RepositoryOptions & { readonly riders: Riders },
) {
  return {
    cronFires: cronFireRepository(db),
    threads: threadRepository(db),
    queue: runQueue(db, options),
    outbox: webhookOutbox(db),
    events: runEventRepository(
      db,
      options.owned.flatMap(({ keeps_log = [] }) => keeps_log),
    ),
    runLogs: runLogRepository(db),
    idempotency: idempotencyRepository(db),
    checkpoints: checkpointRepository(db, open),
    storeItems: storeItemRepository(db),
  };
}
