import { systemAssistantId } from '../../core/ids.ts';
import { toJson } from '../../core/json.ts';
import { bind } from '../../db/bind.ts';
import { columns } from '../../db/columns.ts';
import type { Db } from '../../db/db.ts';
import type { Cipher } from '../../db/encryption/cipher.ts';
import { contains, isOneOf, isOneOfNumbers, mergeJson } from '../../db/json.ts';
import { join, raw, type Sql, sql } from '../../db/sql.ts';
import { NOW } from '../../db/time.ts';
import type { Assistant, AssistantVersion, AssistantVersionsSearch } from '../../schemas/assistants.ts';
import { idsInSlices, type LargeRows } from '../search/byte-slices.ts';
import { boundedRows } from '../search/list-bytes.ts';
import {
  ASSISTANT_COLUMNS,
  assistantOf,
  findAssistant,
  insertAssistant,
  LARGE_COLUMNS,
  upsertVersion,
  VERSIONED_COLUMNS,
} from './row.ts';
import { countAssistants, searchAssistants } from './search.ts';
import { assistantSummaries } from './summaries.ts';

/** Changes of a new version: replaces `config` and `context`, merges `metadata` shallowly. */
export type AssistantChanges = {
  readonly [Field in 'graph_id' | 'name' | 'description' | 'config' | 'context' | 'metadata']?:
    | Assistant[Field]
    | undefined;
};

export type AssistantRepository = ReturnType<typeof assistantRepository>;

/** Assistants and their versions (contract §2.1). */
export function assistantRepository(db: Db) {
  return bind(db, {
    insert: insertFirstVersion,
    get: findAssistant,
    search: searchAssistants,
    summaries: assistantSummaries,
    count: countAssistants,
    update: updateAssistant,
    versions: listVersions,
    setLatest: setLatestVersion,
    delete: deleteAssistant,
    upsertSystemAssistants,
    deleteSystemAssistantsExcept,
  });
}

/** Returns `false` if the id is taken. */
function insertFirstVersion(db: Db, assistant: Assistant): Promise<boolean> {
  return db.transaction('sync', async (tx) => {
    const inserted = await tx.run(
      sql`${insertAssistant(tx.cipher, assistant)} on conflict (assistant_id) do nothing`,
    );
    if (inserted > 0) await upsertVersion(tx, assistant.assistant_id);
    return inserted > 0;
  });
}

/**
 * Creates a version numbered after the highest one and makes it current. `change` runs on the locked row; the
 * transaction rolls back if it throws.
 */
function updateAssistant(
  db: Db,
  assistant_id: string,
  change: (stored: Assistant) => AssistantChanges,
  at: string,
): Promise<Assistant | undefined> {
  return db.transaction('sync', async (tx) => {
    // Locks the row, so that concurrent updates serialize and get distinct version numbers.
    await tx.run(sql`update assistants set updated_at = ${at} where assistant_id = ${assistant_id}`);
    const stored = await findAssistant(tx, assistant_id);
    if (!stored) return undefined;
    const next = sql`version = 1 + (
      select max(version) from assistant_versions where assistant_id = ${assistant_id})`;
    await tx.run(sql`
      update assistants set ${join([next, ...assignments(tx.cipher, change(stored))], ', ')}
      where assistant_id = ${assistant_id}`);
    await upsertVersion(tx, assistant_id);
    return findAssistant(tx, assistant_id);
  });
}

function assignments(
  cipher: Cipher,
  { graph_id, name, description, config, context, metadata }: AssistantChanges,
): Sql[] {
  const given = [
    graph_id !== undefined && sql`graph_id = ${graph_id}`,
    name !== undefined && sql`name = ${name}`,
    description !== undefined && sql`description = ${description}`,
    config && sql`config = ${cipher.encryptJson(ASSISTANT_COLUMNS.config, toJson(config))}`,
    context && sql`context = ${cipher.encryptJson(ASSISTANT_COLUMNS.context, toJson(context))}`,
    metadata && sql`metadata = ${mergeJson('metadata', metadata)}`,
  ];
  return given.filter((assignment) => typeof assignment === 'object');
}

/** Newest first. */
async function listVersions(
  db: Db,
  assistant_id: string,
  { metadata, limit, offset }: AssistantVersionsSearch,
  max_bytes?: number,
): Promise<AssistantVersion[]> {
  const own = sql`assistant_id = ${assistant_id}`;
  const rows: LargeRows = {
    from: raw('assistant_versions'),
    where: [own],
    id: 'cast(version as text)',
    order: raw('order by version desc'),
    large: metadata ? [raw('metadata')] : [],
  };
  const conditions = [metadata && contains('metadata', metadata)];
  const found = await idsInSlices(db, rows, conditions, offset + limit);
  const versions = await boundedRows(db, {
    what: 'versions',
    ids: found.slice(offset),
    id: 'version',
    among: (ids) => isOneOfNumbers(raw('version'), ids.map(Number)),
    select: (condition) => sql`
      select ${columns('assistant_versions', 'assistant_id, created_at')}, ${VERSIONED_COLUMNS}
      from assistant_versions where ${condition}`,
    from: raw('from assistant_versions'),
    where: [own],
    large: LARGE_COLUMNS,
    max_bytes,
    read: (row) => assistantOf(db.cipher, row),
  });
  return versions.sort((one, other) => other.version - one.version);
}

/** Restores a version as current. Returns `undefined` if it does not exist. */
function setLatestVersion(
  db: Db,
  assistant_id: string,
  version: number,
  at: string,
): Promise<Assistant | undefined> {
  const storedVersion = sql`from assistant_versions where assistant_id = ${assistant_id} and version = ${version}`;
  return db.transaction('sync', async (tx) => {
    const changed = await tx.run(sql`
      update assistants set (${VERSIONED_COLUMNS}) = (select ${VERSIONED_COLUMNS} ${storedVersion}), updated_at = ${at}
      where assistant_id = ${assistant_id} and exists (select 1 ${storedVersion})`);
    return changed > 0 ? findAssistant(tx, assistant_id) : undefined;
  });
}

/** Cascades to its versions and crons, not to its runs. */
function deleteAssistant(db: Db, assistant_id: string): Promise<boolean> {
  return db.transaction('reclaim', async (tx) => {
    await tx.run(sql`delete from crons where assistant_id = ${assistant_id}`);
    return (await tx.run(sql`delete from assistants where assistant_id = ${assistant_id}`)) > 0;
  });
}

/**
 * Upserts the assistants of the configured graphs: existing ones take the name and description. Replaces what a client
 * made under such an id.
 */
function upsertSystemAssistants(db: Db, assistants: readonly Assistant[]): Promise<void> {
  return db.transaction('sync', async (tx) => {
    for (const assistant of assistants) {
      for (const table of ['crons', 'assistants'] as const) tx.defer(deleteForeign(table, assistant));
      await tx.run(sql`${insertAssistant(tx.cipher, assistant)}
        on conflict (assistant_id) do update set name = excluded.name, description = excluded.description,
          config = case when assistants.version = 1 then excluded.config else assistants.config end,
          context = case when assistants.version = 1 then excluded.context else assistants.context end`);
      await upsertVersion(tx, assistant.assistant_id);
    }
  });
}

/**
 * Deletes what a client made under the id of a system assistant, which can be computed before its graph is configured:
 * it would give the graph's assistant another graph, configuration and owner. Its crons go with it: they are for another
 * graph.
 */
function deleteForeign(table: 'crons' | 'assistants', { assistant_id, graph_id }: Assistant): Sql {
  const isSystem = sql`graph_id = ${graph_id} and ${contains('metadata', { created_by: 'system' })}`;
  return sql`delete from ${raw(table)} where assistant_id = ${assistant_id} and exists (
    select 1 from assistant_versions where assistant_id = ${assistant_id} and version = 1 and not (${isSystem}))`;
}

/**
 * Deletes the system assistants of graphs that no live process serves, except these. They are recognized by id, a UUIDv5 of their first graph: clients may also write the metadata
 * `created_by: system`.
 */
function deleteSystemAssistantsExcept(db: Db, assistant_ids: readonly string[]): Promise<void> {
  return db.transaction('sync', async (tx) => {
    const first = await tx.all(sql`
      select ${columns('assistant_versions', 'assistant_id, graph_id')} from assistant_versions
      where version = 1 and ${contains('metadata', { created_by: 'system' })}`);
    const live = await tx.all(
      sql`select ${columns('workers', 'graph_ids')} from workers where expires_at > ${NOW}`,
    );
    const served = new Set<string>();
    for (const { graph_ids } of live) {
      for (const graph_id of JSON.parse(graph_ids)) served.add(systemAssistantId(graph_id));
    }
    const gone = first
      .filter(({ assistant_id, graph_id }) => assistant_id === systemAssistantId(graph_id))
      .map(({ assistant_id }) => assistant_id)
      .filter((assistant_id) => !assistant_ids.includes(assistant_id) && !served.has(assistant_id));
    await tx.run(sql`delete from assistants where ${isOneOf('assistant_id', gone)}`);
  });
}
