/**
 * How a column is sealed: its JSON, text or bytes as a whole; `searched`: an object of tokens, which the database looks
 * into, with the original sealed in a member of it.
 */
export type SealedForm = 'json' | 'text' | 'bytes' | 'searched';

export interface SealedTable {
  readonly table: string;
  /** Columns that name a row. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, SealedForm>>;
}

/** Every column that is sealed, with encryption at rest: what a user, a graph or somebody's configuration put there. */
export const SEALED_TABLES: readonly SealedTable[] = [
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
  { table: 'server_secrets', key: ['name'], columns: { secret: 'text' } },
];
