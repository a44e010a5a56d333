import type { Assistant, AssistantVersion, AssistantVersionsSearch } from '../schemas/assistants.ts';
import { assistantOf, findAssistant, VERSIONED } from './assistant-row.ts';
import type { Db } from './db.ts';
import { contains } from './json.ts';
import { all, sql } from './sql.ts';

export async function listVersions(
  db: Db,
  assistant_id: string,
  { metadata, limit, offset }: AssistantVersionsSearch,
): Promise<AssistantVersion[]> {
  const wanted = all([sql`assistant_id = ${assistant_id}`, metadata && contains('metadata', metadata)]);
  const rows = await db.all<AssistantVersion>(sql`
    select assistant_id, ${VERSIONED}, created_at from assistant_versions where ${wanted}
    order by version desc limit ${limit} offset ${offset}`);
  return rows.map((row) => assistantOf(db.cipher, row));
}

export function setLatestVersion(
  db: Db,
  assistant_id: string,
  version: number,
  at: string,
): Promise<Assistant | undefined> {
  const kept = sql`from assistant_versions where assistant_id = ${assistant_id} and version = ${version}`;
  return db.transaction('promised', async (tx) => {
    const changed = await tx.run(sql`
      update assistants set (${VERSIONED}) = (select ${VERSIONED} ${kept}), updated_at = ${at}
      where assistant_id = ${assistant_id} and exists (select 1 ${kept})`);
    return changed > 0 ? findAssistant(tx, assistant_id) : undefined;
  });
}
