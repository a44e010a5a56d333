import { toJson } from '../../core/json.ts';
import { columns } from '../../db/columns.ts';
import type { Reader, Transaction } from '../../db/db.ts';
import { type Cipher, decryptJsonColumns } from '../../db/encryption/cipher.ts';
import { parseJsonColumns } from '../../db/json.ts';
import { and, type RowOf, raw, type Sql, sql } from '../../db/sql.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import { VISIBLE_ASSISTANTS, type Visibility, visible } from '../access/visibility.ts';

/** Columns stored per version; `assistants` has a copy of the current one. */
export const VERSIONED_COLUMNS = columns(
  'assistants',
  'graph_id, name, description, config, context, metadata, version',
);
export const COLUMNS = sql`${columns('assistants', 'assistant_id')}, ${VERSIONED_COLUMNS},
  ${columns('assistants', 'created_at, updated_at')}`;

/** What is large of a row of either table. */
export const LARGE_COLUMNS = ['config', 'context', 'metadata'].map(raw);

/** Encryption context, also in `assistant_versions`: SQL copies ciphertexts between the tables. */
export const ASSISTANT_COLUMNS = { config: 'assistants.config', context: 'assistants.context' };

/** Decodes a row of either table. */
export function assistantOf<Row extends RowOf<typeof VERSIONED_COLUMNS>>(cipher: Cipher, row: Row) {
  return decryptJsonColumns(cipher, parseJsonColumns(row, ['metadata']), ASSISTANT_COLUMNS);
}

export async function findAssistant(
  reader: Reader,
  assistant_id: string,
  visibility?: Visibility,
): Promise<Assistant | undefined> {
  const wanted = and([sql`assistant_id = ${assistant_id}`, visible(VISIBLE_ASSISTANTS, visibility)]);
  const row = await reader.get(sql`select ${COLUMNS} from assistants where ${wanted}`);
  return row && assistantOf(reader.cipher, row);
}

/** Insert without its `on conflict` clause. */
export function insertAssistant(cipher: Cipher, assistant: Assistant): Sql {
  const { assistant_id, graph_id, name, description, config, context, metadata, version } = assistant;
  return sql`insert into assistants (${COLUMNS}) values (${assistant_id}, ${graph_id}, ${name}, ${description},
    ${cipher.encryptJson(ASSISTANT_COLUMNS.config, toJson(config))}, ${cipher.encryptJson(ASSISTANT_COLUMNS.context, toJson(context))},
    ${toJson(metadata)}, ${version}, ${assistant.created_at},
    ${assistant.updated_at})`;
}

/** Upserts the current row as its version; an existing version is updated. */
export async function upsertVersion(tx: Transaction, assistant_id: string): Promise<void> {
  await tx.run(sql`
    insert into assistant_versions (assistant_id, ${VERSIONED_COLUMNS}, created_at)
    select assistant_id, ${VERSIONED_COLUMNS}, updated_at from assistants where assistant_id = ${assistant_id}
    on conflict (assistant_id, version) do update set name = excluded.name, description = excluded.description,
      config = excluded.config, context = excluded.context`);
}
