import { expect, test } from 'vitest';
import { OWNED_DATA } from '../../src/app/extensions.ts';
import { bufferedRandomBytes } from '../../src/core/random.ts';
import type { Db } from '../../src/db/db.ts';
import { EncryptingCipher } from '../../src/db/encryption/encrypting-cipher.ts';
import { migrate, pendingMigrations } from '../../src/db/migrate.ts';
import { raw, sql } from '../../src/db/sql.ts';
import type { DoctorContext } from '../../src/extensions/operations/doctor/finding.ts';
import { orphans } from '../../src/extensions/operations/doctor/orphans.ts';
import { schemaFinding } from '../../src/extensions/operations/doctor/schema.ts';
import { rotate } from '../../src/storage/encryption/rotate.ts';
import { unlock } from '../../src/storage/encryption/unlock.ts';
import { allMigrations, type OwnedData } from '../../src/storage/owned-data.ts';
import { deleteThread } from '../../src/storage/threads/delete.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { testSealer } from '../support/encryption.ts';
import { failure } from '../support/naming.ts';

/** A toy: notes on threads, and marks whose note may be gone. */
const NOTES: OwnedData = {
  name: 'notes',
  migrations: [
    {
      version: 1,
      name: 'base',
      expands: true,
      text: `create table notes (
  thread_id {uuid} primary key references threads (thread_id) on delete cascade,
  note text not null
){strict};
create table note_marks (mark text primary key){strict};
create index note_marks_order on note_marks (mark);
`,
    },
  ],
  encrypted: [{ table: 'notes', key: ['thread_id'], columns: { note: 'text' } }],
  orphans: [
    {
      table: 'note_marks',
      condition: 'not exists (select 1 from notes where note = note_marks.mark)',
      what: 'without a note',
    },
  ],
};

const author = { version: 2, name: 'author', text: 'alter table notes add column author text;' };
const LATER: OwnedData = { ...NOTES, migrations: [...NOTES.migrations, { ...author, expands: true }] };
const BREAKING: OwnedData = { ...NOTES, migrations: [...NOTES.migrations, author] };
const THREAD = '00000000-0000-4000-8000-000000000001';

const known = (...owned: OwnedData[]) => allMigrations([...OWNED_DATA, ...owned]);

async function rowsOf(db: Db, table: string): Promise<unknown[]> {
  return db.all(sql`select * from ${raw(table)}`);
}

async function addNote(db: Db, note: string): Promise<void> {
  const now = '2026-01-01T00:00:00.000Z';
  await db.run(sql`insert into threads (thread_id, status, metadata, config, interrupts, created_at, updated_at, state_updated_at)
    values (${THREAD}, 'idle', '{}', '{}', '{}', ${now}, ${now}, ${now})`);
  await db.run(sql`insert into notes (thread_id, note) values (${THREAD}, ${note})`);
}

describeEachDatabase('the tables of an extension', (open) => {
  test('are created with those of the core, in one transaction', async () => {
    await using db = await open({ migrated: false });
    let transactions = 0;
    const counting: Db = {
      ...db,
      transaction: (durability, body) => {
        transactions++;
        return db.transaction(durability, body);
      },
    };

    await migrate(counting, known(NOTES));

    expect(await rowsOf(db, 'notes')).toEqual([]);
    // The second finds nothing left to do.
    expect(transactions).toBe(2);
  });

  test('are added to a database that was made without it, and are kept while it is unknown', async () => {
    await using db = await open();
    await migrate(db, known(NOTES));
    await addNote(db, 'kept');

    await migrate(db, known());
    await migrate(db, known(NOTES));

    expect(await rowsOf(db, 'notes')).toMatchObject([{ note: 'kept' }]);
    expect(await pendingMigrations(db, known(NOTES))).toEqual([]);
  });

  test('have versions of their own: a newer one that only adds is served, another is refused', async () => {
    await using db = await open();
    await migrate(db, known(LATER));
    expect(await pendingMigrations(db, known(NOTES))).toEqual([]);
    expect(await pendingMigrations(db, known())).toEqual([]);

    await db.run(raw('update extension_migrations set expands = 0 where version = 2'));

    await expect(migrate(db, known(NOTES))).rejects.toThrow(failure(Error, 'notes 2'));
    await expect(migrate(db, known())).resolves.toBeUndefined();
    await expect(migrate(db, known(BREAKING))).resolves.toBeUndefined();
  });

  test('that a doctor does not find are a problem', async () => {
    await using db = await open();
    expect(await schemaFinding({ db, owned: OWNED_DATA })).toBeUndefined();
    expect(await schemaFinding({ db, owned: [...OWNED_DATA, NOTES] })).toMatchObject({
      level: 'problem',
      message: expect.stringContaining('notes 1'),
    });
  });

  test('lose the rows of a thread that is deleted', async () => {
    await using db = await open();
    await migrate(db, known(NOTES));
    await addNote(db, 'gone');

    await deleteThread(db, THREAD);

    expect(await rowsOf(db, 'notes')).toEqual([]);
  });

  test('are searched for orphans, which a doctor deletes', async () => {
    await using db = await open();
    await migrate(db, known(NOTES));
    await db.run(raw(`insert into note_marks (mark) values ('lost')`));
    const context = { db, owned: [NOTES] } as unknown as DoctorContext;

    const [finding] = await orphans(context);
    expect(finding).toMatchObject({ check: 'orphans', message: expect.stringContaining('note_marks') });
    await finding?.fix?.();

    expect(await rowsOf(db, 'note_marks')).toEqual([]);
    expect(await orphans(context)).toEqual([]);
  });

  test('are encrypted with the new key at a rotation', async () => {
    const cipher = new EncryptingCipher(testSealer());
    await using db = await open();
    await migrate(db, known(NOTES));
    await unlock(db, cipher, bufferedRandomBytes());
    await addNote(db, 'in plain text');

    const seen: [string, number][] = [];
    const rules = { onTable: (table: string, rows: number) => void seen.push([table, rows]) };
    await rotate(db, cipher, NOTES.encrypted ?? [], rules);

    const [row] = (await rowsOf(db, 'notes')) as { note: string }[];
    expect(seen).toEqual([['notes', 1]]);
    expect(row?.note.startsWith(cipher.prefix)).toBe(true);
    expect(cipher.decryptText('notes.note', row?.note as string)).toBe('in plain text');
  });
});
