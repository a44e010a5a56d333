import { Conflict } from '../../../core/errors.ts';
import { text } from '../../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../../db/db.ts';
import { hasTable } from '../../../db/schema.ts';
import { raw, type SqlValue, sql } from '../../../db/sql.ts';
import { COPY_PROGRESS } from '../../../storage/unfinished-copy.ts';
import type { Key } from './batches.ts';

/** The row that names the source. */
const SOURCE = 'source';

/** The source of the copy whose target this is; `undefined` if it is not the target of one. */
export async function unfinishedSource(reader: Reader): Promise<string | undefined> {
  if (!(await hasTable(reader, COPY_PROGRESS))) return undefined;
  return stateOf(reader, SOURCE);
}

export async function beginProgress(db: Db, source: string): Promise<void> {
  await db.transaction('sync', async (tx) => {
    await tx.run(raw(`create table ${COPY_PROGRESS} (name text primary key, state text not null)`));
    await tx.run(sql`insert into ${raw(COPY_PROGRESS)} (name, state) values (${SOURCE}, ${source})`);
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
      ? await tx.run(sql`insert into ${raw(COPY_PROGRESS)} (name, state) values (${table}, ${state})
          on conflict (name) do nothing`)
      : await tx.run(sql`update ${raw(COPY_PROGRESS)} set state = ${state}
          where name = ${table} and state = ${JSON.stringify(from)}`);
  if (changed !== 1)
    throw new Conflict('Another process is copying into the same database. Wait until it has finished.');
}

/** The last step: from then on the target is a database like any other. */
export async function endProgress(tx: Transaction): Promise<void> {
  await tx.run(raw(`drop table ${COPY_PROGRESS}`));
}

async function stateOf(reader: Reader, name: SqlValue): Promise<string | undefined> {
  const row = await reader.get(sql`select ${text('state')} from ${raw(COPY_PROGRESS)} where name = ${name}`);
  return row?.state;
}
