import { Conflict, Unavailable } from '../../core/errors.ts';
import { text } from '../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../db/db.ts';
import { hasTable } from '../../db/schema.ts';
import { raw, type SqlValue, sql } from '../../db/sql.ts';
import type { Key } from './batches.ts';

/**
 * Progress of a copy, in a table of the target that exists only until the copy is complete: each batch is committed
 * together with its last key, so that a copy which was killed continues exactly there.
 */
const TABLE = 'copy_progress';

/** The row that names the source. */
const SOURCE = 'source';

/** Throws `Unavailable` for the target of an unfinished copy: a server on it would show a part of the data. */
export async function assertNoCopy(reader: Reader): Promise<void> {
  if (!(await hasTable(reader, TABLE))) return;
  const detail = 'The database is an unfinished copy of another one, and lacks some of its data.';
  throw new Unavailable(`${detail} Run the same "agent-server copy" again: it continues where it stopped.`);
}

/** The source of the copy whose target this is; `undefined` if it is not the target of one. */
export async function unfinishedSource(reader: Reader): Promise<string | undefined> {
  if (!(await hasTable(reader, TABLE))) return undefined;
  return stateOf(reader, SOURCE);
}

export async function beginProgress(db: Db, source: string): Promise<void> {
  await db.transaction('sync', async (tx) => {
    await tx.run(raw(`create table ${TABLE} (name text primary key, state text not null)`));
    await tx.run(sql`insert into ${raw(TABLE)} (name, state) values (${SOURCE}, ${source})`);
  });
}

/** How far a table is. */
export interface TableProgress {
  readonly rows: number;
  /** `undefined` before the first row. */
  readonly last?: Key | undefined;
}

export async function progressOf(reader: Reader, table: string): Promise<TableProgress> {
  const state = await stateOf(reader, table);
  return state === undefined ? { rows: 0 } : (JSON.parse(state) as TableProgress);
}

/** Part of the transaction of a batch. Throws `Conflict` if another process copies into the same target. */
export async function advance(
  tx: Transaction,
  table: string,
  from: TableProgress,
  to: TableProgress,
): Promise<void> {
  const state = JSON.stringify(to);
  const changed =
    from.last === undefined
      ? await tx.run(sql`insert into ${raw(TABLE)} (name, state) values (${table}, ${state})
          on conflict (name) do nothing`)
      : await tx.run(sql`update ${raw(TABLE)} set state = ${state}
          where name = ${table} and state = ${JSON.stringify(from)}`);
  if (changed !== 1)
    throw new Conflict('Another process is copying into the same database. Wait until it has finished.');
}

/** The last step: from then on the target is a database like any other. */
export async function endProgress(tx: Transaction): Promise<void> {
  await tx.run(raw(`drop table ${TABLE}`));
}

async function stateOf(reader: Reader, name: SqlValue): Promise<string | undefined> {
  const row = await reader.get(sql`select ${text('state')} from ${raw(TABLE)} where name = ${name}`);
  return row?.state;
}
