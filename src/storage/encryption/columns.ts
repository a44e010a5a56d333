import type { SealingCipher } from '../../db/encryption/encrypting-cipher.ts';
import { type DialectSql, raw, type Sql, type SqlValue, sql } from '../../db/sql.ts';
import { METADATA_SEALED, openMetadata, sealMetadata } from '../checkpoints/metadata.ts';
import { openedValue, storedValue, VALUE_SEALED } from '../store/encryption.ts';

/**
 * How a column is sealed: its JSON, text or bytes as a whole; `searched`: an object of tokens, which the database looks
 * into, with the original sealed in a member of it.
 */
export type SealedForm = 'json' | 'text' | 'bytes' | 'searched';

export interface SealedTable {
  readonly table: string;
  /** The table that its values are sealed for, where the database copies them from one to the other. */
  readonly sealed_for?: string;
  /** Columns that name a row. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, SealedForm>>;
}

/** Every column that is sealed, with encryption at rest: what a user, a graph or somebody's configuration put there. */
export const SEALED_TABLES: readonly SealedTable[] = [
  { table: 'assistants', key: ['assistant_id'], columns: { config: 'json', context: 'json' } },
  {
    table: 'assistant_versions',
    sealed_for: 'assistants',
    key: ['assistant_id', 'version'],
    columns: { config: 'json', context: 'json' },
  },
  { table: 'threads', key: ['thread_id'], columns: { config: 'json', error: 'json', interrupts: 'json' } },
  { table: 'thread_values', key: ['thread_id'], columns: { value: 'json' } },
  { table: 'runs', key: ['run_id'], columns: { kwargs: 'json', error: 'json' } },
  { table: 'run_events', key: ['run_id', 'seq'], columns: { data: 'text' } },
  {
    table: 'checkpoints',
    key: ['thread_id', 'ns', 'checkpoint_id'],
    columns: { checkpoint: 'json', metadata: 'searched' },
  },
  {
    table: 'checkpoint_blobs',
    key: ['thread_id', 'ns', 'channel', 'version'],
    columns: { value: 'bytes' },
  },
  {
    table: 'checkpoint_writes',
    key: ['thread_id', 'ns', 'checkpoint_id', 'task_id', 'idx', 'superseded_by'],
    columns: { value: 'bytes' },
  },
  { table: 'idempotency_keys', key: ['owner', 'key'], columns: { run: 'json', answer: 'json' } },
  { table: 'store_items', key: ['item_id'], columns: { index_rule: 'json', value: 'searched' } },
  {
    table: 'crons',
    key: ['cron_id'],
    columns: { disabled_reason: 'text', run_as: 'json', payload: 'json' },
  },
  {
    table: 'webhook_outbox',
    key: ['seq'],
    columns: { url: 'text', shown_url: 'text', headers: 'json', body: 'text' },
  },
  { table: 'webhook_attempts', key: ['delivery_id', 'attempt'], columns: { error: 'text', answer: 'text' } },
  { table: 'a2a_tasks', key: ['task_id'], columns: { reason: 'text', artifacts: 'json' } },
  {
    table: 'a2a_push_configs',
    key: ['task_id', 'config_id'],
    columns: { url: 'text', token: 'text', scheme: 'text', credentials: 'text' },
  },
  { table: 'a2a_turns', key: ['seq'], columns: { message: 'json' } },
  // Last: what tokens are made with tells at a start that a key is missing, and so is still needed.
  { table: 'server_secrets', key: ['name'], columns: { secret: 'text' } },
];

export interface SealedColumn {
  readonly name: string;
  /** As `runs.kwargs`. */
  readonly sealed_as: string;
  readonly form: SealedForm;
}

/** An object of tokens. */
interface Searched {
  /** That is sealed. */
  readonly member: string;
  /** Makes all of it anew. */
  reseal(cipher: SealingCipher, text: string): string;
}

const SEARCHED: Readonly<Record<string, Searched>> = {
  'checkpoints.metadata': {
    member: METADATA_SEALED,
    reseal: (cipher, text) => sealMetadata(cipher, openMetadata(cipher, text)),
  },
  'store_items.value': {
    member: VALUE_SEALED,
    reseal: (cipher, text) => storedValue(cipher, openedValue(cipher, text)),
  },
};

/** True in SQL when the column holds something that is not sealed under the current key. */
export function isStale(cipher: SealingCipher, { name, form, sealed_as }: SealedColumn): Sql {
  const beginning = (text: Sql | DialectSql, mark: string | Uint8Array) =>
    sql`(${raw(name)} is not null and coalesce(substr(${text}, 1, ${raw(String(mark.length))}) <> ${mark}, true))`;
  switch (form) {
    case 'text':
      return beginning(raw(name), cipher.prefix);
    case 'json':
      return beginning(raw(`cast(${name} as text)`), `"${cipher.prefix}`);
    case 'bytes':
      return beginning(raw(name), cipher.bytesPrefix);
    case 'searched':
      return beginning(raw(`(${name} ->> '${searched(sealed_as).member}')`), cipher.prefix);
  }
}

/** What is stored, sealed under the current key. Throws `Unreadable`. */
export function resealed(
  cipher: SealingCipher,
  { form, sealed_as }: SealedColumn,
  stored: SqlValue,
): SqlValue {
  switch (form) {
    case 'text':
      return cipher.sealText(sealed_as, cipher.openText(sealed_as, stored as string));
    case 'json':
      return cipher.sealJson(sealed_as, cipher.openJson(sealed_as, stored as string));
    case 'bytes':
      return cipher.sealBytes(sealed_as, cipher.openBytes(sealed_as, stored as Uint8Array));
    case 'searched':
      return searched(sealed_as).reseal(cipher, stored as string);
  }
}

function searched(sealed_as: string): Searched {
  const found = SEARCHED[sealed_as];
  if (!found) throw new Error(`It is not known how ${sealed_as} is sealed anew.`);
  return found;
}
