import { text } from '../../../db/columns.ts';
import type { Db } from '../../../db/db.ts';
import { pendingMigrations } from '../../../db/migrate.ts';
import { type Migration, versionOf } from '../../../db/migrations/index.ts';
import { hasTable, NEWEST_VERSION, schemaVersion } from '../../../db/schema.ts';
import { type DialectName, type DialectSql, raw, sql } from '../../../db/sql.ts';
import { allMigrations } from '../../../storage/owned-data.ts';
import type { DoctorContext, Finding, QuickContext } from './finding.ts';

/** Prerequisite of all other checks: their statements require this schema version. */
export async function schemaFinding({
  db,
  owned,
}: Pick<DoctorContext, 'db' | 'owned'>): Promise<Finding | undefined> {
  const version = await schemaVersion(db);
  if (version === NEWEST_VERSION) {
    if (await hasTable(db, 'copy_progress'))
      return problem('The database is an unfinished copy: run the same "agent-server copy" again.');
    const pending = await pendingMigrations(db, allMigrations(owned));
    if (pending.length === 0) return undefined;
    const versions = pending.map(versionOf).join(', ');
    return problem(
      `The database lacks the migrations ${versions}: make a backup, then run agent-server migrate.`,
    );
  }
  if (version === 0) return problem('The database is empty: a server creates its tables when it starts.');
  const versions = `The database is at schema version ${version}, but this program needs version ${NEWEST_VERSION}`;
  return problem(
    version > NEWEST_VERSION
      ? `${versions}: run a newer version of the program.`
      : `${versions}: make a backup, then run agent-server migrate.`,
  );
}

function problem(message: string): Finding {
  return { check: 'schema', level: 'problem', message };
}

const PRESENT: DialectSql = {
  sqlite: raw(`select name from sqlite_master where type in ('index', 'trigger')`),
  postgres: raw(`select indexname as name from pg_indexes where schemaname = current_schema()`),
};

/** Indexes that the migrations create; on SQLite also the triggers that maintain others. */
export async function missingIndexes({ db, owned }: QuickContext): Promise<Finding[]> {
  const rows = await db.all(sql`select ${text('name')} from (${PRESENT}) present`);
  const present = new Set(rows.map(({ name }) => name));
  return [...schemaObjects(db.dialect, allMigrations(owned))]
    .filter(([name]) => !present.has(name))
    .map(([name, statement]) => ({
      check: 'indexes',
      level: 'problem',
      message: `${name} is missing, so searches that need it are slow or incomplete: --fix creates it.`,
      fix: () => create(db, name, statement),
    }));
}

function create(db: Db, name: string, statement: string): Promise<unknown> {
  // Otherwise all writes to the table would wait until it is built.
  if (db.dialect === 'postgres')
    return db.run(raw(statement.replace(/\bindex(?! concurrently)/i, 'index concurrently')));
  return db.transaction('sync', async (tx) => {
    await tx.run(raw(statement));
    for (const rebuild of rebuilds(name)) await tx.run(raw(rebuild));
  });
}

/** Brings up to date what a trigger of this name maintains, and missed while it was not there. */
function rebuilds(name: string): string[] {
  const end = name.lastIndexOf('_terms_');
  if (end > 0) {
    // Tables with such an index have one word as their name; their columns may have several.
    const split = name.indexOf('_');
    const [table, column] = [name.slice(0, split), name.slice(split + 1, end)];
    const terms = `${table}_${column}_terms`;
    return [
      `delete from ${terms}`,
      `insert into ${terms} select value, ${table}.row_id from ${table}, json_each(json_terms(${table}.${column}, '{}'))`,
    ];
  }
  if (name.startsWith('assistants_')) return NAMED_BY_TRIGGER.includes(name) ? [NAME_ORDER] : [];
  return name === 'store_items_gone' ? [WORDS_OF_DELETED] : [];
}

const NAMED_BY_TRIGGER = ['assistants_named', 'assistants_renamed'];
const NAME_ORDER = 'update assistants set name_order = unicode_lower(name)';
const WORDS_OF_DELETED = 'delete from store_words where rowid not in (select item_id from store_items)';

const CREATED = /^\s*create (?:unique )?(index|trigger) (?:concurrently )?(?:if not exists )?(\w+)/i;
const DROPPED = /^\s*drop (?:index|trigger) (?:concurrently )?(?:if exists )?(\w+)/i;

/** The statements that create each index and trigger of the newest schema, by name. */
function schemaObjects(dialect: DialectName, migrations: readonly Migration[]): Map<string, string> {
  const statements = new Map<string, string>();
  for (const { text } of migrations) {
    const script = typeof text === 'string' ? text : text[dialect];
    for (const statement of script.split(/;\s*$/m)) {
      const sql = withoutComments(statement);
      const name = CREATED.exec(sql)?.[2];
      if (name !== undefined) statements.set(name, sql);
      statements.delete(DROPPED.exec(sql)?.[1] ?? '');
    }
  }
  return statements;
}

/** Lines of comments stand before some statements. */
function withoutComments(statement: string): string {
  const lines = statement.split('\n').filter((line) => !line.trimStart().startsWith('--'));
  return lines.join('\n').trim();
}
