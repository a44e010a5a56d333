import { systemAssistantId } from '../core/ids.ts';
import type { Assistant } from '../schemas/assistants.ts';
import { insertInto, keepVersion } from './assistant-row.ts';
import type { Db } from './db.ts';
import { contains, isOneOf } from './json.ts';
import { sql } from './sql.ts';

export function upsertSystem(db: Db, assistants: readonly Assistant[]): Promise<void> {
  return db.transaction('promised', async (tx) => {
    for (const assistant of assistants) {
      await tx.run(sql`${insertInto(tx.cipher, assistant)}
        on conflict (assistant_id) do update set name = excluded.name, description = excluded.description,
          config = case when assistants.version = 1 then excluded.config else assistants.config end,
          context = case when assistants.version = 1 then excluded.context else assistants.context end`);
      await keepVersion(tx, assistant.assistant_id);
    }
  });
}

/**
 * A system assistant is known by its id, which is made from the graph it began with: `created_by` alone is metadata,
 * and clients may write the same.
 */
export function deleteSystemExcept(db: Db, assistant_ids: readonly string[]): Promise<void> {
  return db.transaction('promised', async (tx) => {
    const first = await tx.all<{ assistant_id: string; graph_id: string }>(sql`
      select assistant_id, graph_id from assistant_versions
      where version = 1 and ${contains('metadata', { created_by: 'system' })}`);
    const gone = first
      .filter(({ assistant_id, graph_id }) => assistant_id === systemAssistantId(graph_id))
      .map(({ assistant_id }) => assistant_id)
      .filter((assistant_id) => !assistant_ids.includes(assistant_id));
    await tx.run(sql`delete from assistants where ${isOneOf('assistant_id', gone)}`);
  });
}
