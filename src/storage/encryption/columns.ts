import type { EncryptingCipher } from '../../db/encryption/encrypting-cipher.ts';
import { type DialectSql, raw, type Sql, type SqlValue, sql } from '../../db/sql.ts';
import { decryptMetadata, ENCRYPTED_METADATA_MEMBER, encryptMetadata } from '../checkpoints/metadata.ts';
import { decryptValue, ENCRYPTED_VALUE_MEMBER, encryptValue } from '../store/encryption.ts';

/**
 * How a column is encrypted: its JSON, text or bytes as a whole; `searched`: an object of blind indexes, which SQL can
 * search, with the ciphertext of the original as one member.
 */
export type EncryptedForm = 'json' | 'text' | 'bytes' | 'searched';

export interface EncryptedTable {
  readonly table: string;
  /** The table of its encryption context, if SQL copies ciphertexts from one to the other. */
  readonly encrypted_as_table?: string;
  /** Primary key columns. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, EncryptedForm>>;
}

/** Every column of the core encrypted at rest: data of users, graphs and client configuration. */
export const ENCRYPTED_TABLES: readonly EncryptedTable[] = [
  { table: 'assistants', key: ['assistant_id'], columns: { config: 'json', context: 'json' } },
  {
    table: 'assistant_versions',
    encrypted_as_table: 'assistants',
    key: ['assistant_id', 'version'],
    columns: { config: 'json', context: 'json' },
  },
  { table: 'threads', key: ['thread_id'], columns: { config: 'json', error: 'json', interrupts: 'json' } },
  { table: 'thread_values', key: ['thread_id'], columns: { value: 'json' } },
  { table: 'runs', key: ['run_id'], columns: { kwargs: 'json', error: 'json' } },
  { table: 'removed_runs', encrypted_as_table: 'runs', key: ['run_id'], columns: { error: 'json' } },
  { table: 'interrupt_answers', key: ['answer_id'], columns: { value: 'json', answer: 'json' } },
  { table: 'run_steps', key: ['run_id', 'attempt', 'number'], columns: { error: 'json', contents: 'text' } },
  { table: 'step_texts', key: ['thread_id', 'number'], columns: { data: 'text' } },
  { table: 'run_events', key: ['run_id', 'seq'], columns: { data: 'text' } },
  { table: 'run_logs', key: ['run_id', 'seq'], columns: { data: 'text' } },
  {
    table: 'removed_run_logs',
    encrypted_as_table: 'run_logs',
    key: ['run_id', 'seq'],
    columns: { data: 'text' },
  },
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
  {
    table: 'webhook_attempts',
    key: ['delivery_id', 'attempt'],
    columns: { error: 'text', answer: 'text', answer_headers: 'json' },
  },
  // Last: at startup an undecryptable blind index key shows that an old key is still needed.
  { table: 'server_secrets', key: ['name'], columns: { secret: 'text' } },
];

export interface EncryptedColumn {
  readonly name: string;
  /** Encryption context, such as `runs.kwargs`. */
  readonly encrypted_as: string;
  readonly form: EncryptedForm;
}

/** A column that holds an object of blind indexes. */
interface SearchableColumn {
  /** The member that holds the ciphertext. */
  readonly member: string;
  /** Rebuilds ciphertext and blind indexes. */
  reencrypt(cipher: EncryptingCipher, text: string): string;
}

const SEARCHABLE_COLUMNS: Readonly<Record<string, SearchableColumn>> = {
  'checkpoints.metadata': {
    member: ENCRYPTED_METADATA_MEMBER,
    reencrypt: (cipher, text) => encryptMetadata(cipher, decryptMetadata(cipher, text)),
  },
  'store_items.value': {
    member: ENCRYPTED_VALUE_MEMBER,
    reencrypt: (cipher, text) => encryptValue(cipher, decryptValue(cipher, text)),
  },
};

/** SQL condition: the column holds a value that is not encrypted with the current key. */
export function isStale(cipher: EncryptingCipher, { name, form, encrypted_as }: EncryptedColumn): Sql {
  const hasOtherPrefix = (text: Sql | DialectSql, mark: string | Uint8Array) =>
    sql`(${raw(name)} is not null and coalesce(substr(${text}, 1, ${raw(String(mark.length))}) <> ${mark}, true))`;
  switch (form) {
    case 'text':
      return hasOtherPrefix(raw(name), cipher.prefix);
    case 'json':
      return hasOtherPrefix(raw(`cast(${name} as text)`), `"${cipher.prefix}`);
    case 'bytes':
      return hasOtherPrefix(raw(name), cipher.bytesPrefix);
    case 'searched':
      return hasOtherPrefix(raw(`(${name} ->> '${searchableColumn(encrypted_as).member}')`), cipher.prefix);
  }
}

/** Re-encrypts a stored value with the current key. Throws `DecryptionError`. */
export function reencrypt(
  cipher: EncryptingCipher,
  { form, encrypted_as }: EncryptedColumn,
  stored: SqlValue,
): SqlValue {
  switch (form) {
    case 'text':
      return cipher.encryptText(encrypted_as, cipher.decryptText(encrypted_as, stored as string));
    case 'json':
      return cipher.encryptJson(encrypted_as, cipher.decryptJson(encrypted_as, stored as string));
    case 'bytes':
      return cipher.encryptBytes(encrypted_as, cipher.decryptBytes(encrypted_as, stored as Uint8Array));
    case 'searched':
      return searchableColumn(encrypted_as).reencrypt(cipher, stored as string);
  }
}

function searchableColumn(column: string): SearchableColumn {
  const found = SEARCHABLE_COLUMNS[column];
  if (!found) throw new Error(`The column ${column} has no rule for re-encryption.`);
  return found;
}
