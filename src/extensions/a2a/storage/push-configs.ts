import { traceparentOf } from '../../../core/trace-ids.ts';
import type { Rows } from '../../../db/column-types.ts';
import { columns, nullable, number } from '../../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../../db/db.ts';
import { decryptJsonColumns, decryptTextColumns } from '../../../db/encryption/cipher.ts';
import { parseJsonColumns } from '../../../db/json.ts';
import { sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import { enqueueDelivery } from '../../../storage/webhooks/enqueue.ts';

/** A subscriber to a task's state changes. */
export interface PushConfig {
  readonly task_id: string;
  readonly config_id: string;
  /** Protocol version of the subscriber. */
  readonly version: Rows['a2a_push_configs']['version'];
  /** Must have passed the webhook policy. */
  readonly url: string;
  /** Token that identifies the sender to the receiver. */
  readonly token: string | null;
  /** Scheme of `Authorization`, such as `Bearer`, and its credentials. */
  readonly scheme: string | null;
  readonly credentials: string | null;
}

export interface NewPushConfig extends Omit<PushConfig, 'task_id' | 'config_id'> {
  /** Default: the task's id. */
  readonly config_id: string | undefined;
}

/** Builds the JSON body for a protocol version. */
export type NotificationBody = (version: PushConfig['version']) => string;

/** Bounds the deliveries per state change of a task. */
export const MAX_PUSH_CONFIGS = 20;

export type A2aPushRepository = ReturnType<typeof a2aPushRepository>;

/** Push notification configurations of tasks. */
export function a2aPushRepository(db: Db) {
  return {
    /** Upserts by id. Returns `undefined` if the task is at its maximum, or does not exist. */
    save: (task_id: string, config: NewPushConfig): Promise<PushConfig | undefined> =>
      db.transaction('sync', async (tx) => {
        // Locks the row, so that every later state change notifies this subscriber too.
        const locked = await tx.run(
          sql`update a2a_tasks set context_id = context_id where task_id = ${task_id}`,
        );
        if (locked === 0) return undefined;
        return (await hasRoom(tx, task_id, config)) ? insertPushConfig(tx, task_id, config) : undefined;
      }),

    /** The oldest first. */
    list: (task_id: string): Promise<PushConfig[]> => configsOf(db, task_id),

    /** Also deletes its pending deliveries. */
    delete: (task_id: string, config_id: string): Promise<void> =>
      db.transaction('sync', async (tx) => {
        await tx.run(
          sql`delete from a2a_push_configs where task_id = ${task_id} and config_id = ${config_id}`,
        );
        const lane = laneOf({ task_id, config_id });
        await tx.run(sql`delete from webhook_outbox where status = 'pending' and lane = ${lane}`);
      }),
  };
}

const COLUMNS = columns('a2a_push_configs', 'task_id, config_id, version, url, token, scheme, credentials');

async function configsOf(reader: Reader, task_id: string): Promise<PushConfig[]> {
  const rows = await reader.all(sql`
    select ${COLUMNS} from a2a_push_configs
    where task_id = ${task_id} order by created_at, config_id`);
  return rows.map((row) => decryptTextColumns(reader.cipher, row, ENCRYPTED_COLUMNS));
}

const ENCRYPTED_COLUMNS = {
  url: 'a2a_push_configs.url',
  token: 'a2a_push_configs.token',
  scheme: 'a2a_push_configs.scheme',
  credentials: 'a2a_push_configs.credentials',
} as const;

/** Whether the configuration replaces one of the task, or is not too many. Requires the task's row lock. */
export async function hasRoom(
  reader: Reader,
  task_id: string,
  { config_id = task_id }: Pick<NewPushConfig, 'config_id'>,
): Promise<boolean> {
  const row = await reader.get(sql`
    select count(*) as ${number('others')} from a2a_push_configs
    where task_id = ${task_id} and config_id <> ${config_id}`);
  return (row?.others ?? 0) < MAX_PUSH_CONFIGS;
}

/** Requires a transaction that holds the task's row lock, and that `hasRoom`. */
export async function insertPushConfig(
  tx: Transaction,
  task_id: string,
  { config_id = task_id, ...config }: NewPushConfig,
): Promise<PushConfig> {
  const encrypted = (name: keyof typeof ENCRYPTED_COLUMNS) => {
    const text = config[name];
    return text === null ? null : tx.cipher.encryptText(ENCRYPTED_COLUMNS[name], text);
  };
  await tx.run(sql`
    insert into a2a_push_configs (task_id, config_id, version, url, token, scheme, credentials, created_at)
    values (${task_id}, ${config_id}, ${config.version}, ${encrypted('url')}, ${encrypted('token')}, ${encrypted('scheme')},
      ${encrypted('credentials')}, ${NOW})
    on conflict (task_id, config_id) do update set version = excluded.version, url = excluded.url,
      token = excluded.token, scheme = excluded.scheme, credentials = excluded.credentials`);
  return { task_id, config_id, ...config };
}

/** Runs in the transaction that changes the task. */
export async function notifySubscribers(
  tx: Transaction,
  { task_id, thread_id, run_id }: { task_id: string; thread_id: string; run_id: string },
  notification: NotificationBody,
): Promise<void> {
  const configs = await configsOf(tx, task_id);
  if (configs.length === 0) return;
  const { metadata = {}, traceparent } = await contextOf(tx, thread_id, run_id);
  for (const config of configs) {
    const { url, version } = config;
    const headers = { ...headersFor(config), ...(traceparent !== undefined && { traceparent }) };
    const lane = laneOf(config);
    await enqueueDelivery(tx, {
      kind: 'a2a',
      url,
      body: notification(version),
      headers,
      run_id,
      thread_id,
      metadata,
      lane,
    });
  }
}

const CONTEXT = sql`${columns('threads', 't.metadata')}, ${nullable(columns('runs', 'r.kwargs'))}`;

/** Metadata of the thread, and the span of the run unless the run is gone. */
async function contextOf(tx: Transaction, thread_id: string, run_id: string) {
  const row = await tx.get(sql`
    select ${CONTEXT} from threads t left join runs r on r.run_id = ${run_id} where t.thread_id = ${thread_id}`);
  if (!row) return {};
  const { metadata, kwargs } = decryptJsonColumns(tx.cipher, parseJsonColumns(row, ['metadata']), {
    kwargs: 'runs.kwargs',
  });
  return { metadata, traceparent: kwargs ? traceparentOf(run_id, kwargs.config.configurable) : undefined };
}

function laneOf({ task_id, config_id }: Pick<PushConfig, 'task_id' | 'config_id'>): string {
  return `a2a:${task_id}:${config_id}`;
}

function headersFor({ version, token, scheme, credentials }: PushConfig): Record<string, string> {
  return {
    'content-type': version === '0.3' ? 'application/json' : 'application/a2a+json',
    ...(token === null ? {} : { 'x-a2a-notification-token': token }),
    ...(scheme === null || credentials === null ? {} : { authorization: `${scheme} ${credentials}` }),
  };
}
