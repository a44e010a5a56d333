import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { columns } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { migrate, pendingMigrations } from '../../src/db/migrate.ts';
import { type Migration, migrations } from '../../src/db/migrations/index.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { NOW, nowPlus } from '../../src/db/time.ts';
import { describeEachDatabase, describePostgresServer } from '../support/databases.ts';
import { failure, naming } from '../support/naming.ts';
import { until } from '../support/until.ts';

const notes: Migration = { version: 1, name: 'notes', text: 'create table notes (id integer);' };
const authors: Migration = {
  version: 2,
  name: 'authors',
  text: 'alter table notes add column author text;',
};

/** What the program of the next release has: it only adds, or takes something away. */
const added: Migration = {
  version: 901,
  name: 'added',
  text: 'create table later (id integer);\nalter table threads add column later text;',
  expands: true,
};
const taken: Migration = { version: 902, name: 'taken', text: 'drop table later;' };

async function versions(db: Db): Promise<number[]> {
  const rows = await db.all(sql`select ${columns('schema_migrations', 'version')} from schema_migrations`);
  return rows.map(({ version }) => version);
}

describeEachDatabase('a newer schema', (open) => {
  test('that only adds can be used by an older program, even at its start', async () => {
    await using db = await open();
    await migrate(db, [...migrations, added]);
    await migrate(db, migrations);
    expect(await pendingMigrations(db, migrations)).toEqual([]);
    expect(await versions(db)).toContain(901);
  });

  test('that removes something is refused by an older program', async () => {
    await using db = await open();
    await migrate(db, [...migrations, added, taken]);
    await expect(migrate(db, migrations)).rejects.toThrow(
      failure(Error, 'version 902', migrations.at(-1)?.version as number),
    );
    await expect(pendingMigrations(db, [...migrations, added])).rejects.toThrow(failure(Error, 902));
  });

  test('is listed before it is applied, and listing it changes nothing', async () => {
    await using db = await open({ migrated: false });
    expect(await pendingMigrations(db, [notes, authors])).toEqual([notes, authors]);
    await migrate(db, [notes]);
    expect(await pendingMigrations(db, [notes, authors])).toEqual([authors]);
    expect(await versions(db)).toEqual([1]);
  });
});

test('each migration marked as additive only adds', () => {
  // Storage parameters change nothing that a program sees.
  const ADDS = /^(create (unique )?index|create table|alter table \w+ (add column|set \()|--|insert into|$)/;
  for (const { name, text } of migrations.filter(({ expands }) => expands)) {
    const scripts = typeof text === 'string' ? [text] : Object.values(text);
    const statements = scripts.flatMap((script) => script.split(/;\s*$/m)).map((one) => one.trim());
    expect([name, statements.filter((one) => !ADDS.test(one))]).toEqual([name, []]);
    // An older program inserts rows without it.
    const columns = statements.filter((one) => one.includes('add column') && one.includes('not null'));
    expect([name, columns.filter((one) => !one.includes('default'))]).toEqual([name, []]);
  }
});

describePostgresServer('a migration', (open) => {
  test('of another process is waited for, with a log line', async () => {
    await using db = await open({ migrated: false });
    const log: string[] = [];
    const [held, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const other = db.transaction('sync', async (tx) => {
      await tx.get(sql`select pg_advisory_xact_lock(4919131752989213764)`);
      held.resolve();
      await over.promise;
    });
    await held.promise;
    const migrating = migrate(db, [notes], (message) => log.push(message));
    await until('it waits', () => log.length > 0);
    expect(log[0]).toEqual(naming('migration waits: ', 'another process'));
    over.resolve();
    await Promise.all([other, migrating]);
    expect(log.at(-1)).toBe('migrating the database');
    expect(await versions(db)).toEqual([1]);
  });

  test('that removes something waits until no server of an earlier version is left', async () => {
    await using db = await open();
    await migrate(db, [...migrations, added]);
    const worker_id = randomUUID();
    await db.run(sql`insert into workers (worker_id, host, pid, version, slots, graph_ids, started_at, expires_at)
      values (${worker_id}, 'earlier', 1, '0', 1, '[]', ${NOW}, ${nowPlus(3_600_000)})`);
    const log: string[] = [];
    const migrating = migrate(db, [...migrations, added, taken], (message) => log.push(message));
    const waits = 'migration waits: servers of an earlier version use the database; stop them';
    await until('it waits', () => log.includes(waits));
    expect(await versions(db)).not.toContain(902);
    await db.run(sql`update workers set expires_at = ${NOW} where worker_id = ${worker_id}`);
    await migrating;
    expect(await versions(db)).toContain(902);
  });

  test('that only adds waits for no server', async () => {
    await using db = await open();
    await db.run(sql`insert into workers (worker_id, host, pid, version, slots, graph_ids, started_at, expires_at)
      values (${randomUUID()}, 'earlier', 1, '0', 1, '[]', ${NOW}, ${nowPlus(3_600_000)})`);
    const log: string[] = [];
    await migrate(db, [...migrations, added], (message) => log.push(message));
    expect(log).not.toContainEqual(naming('waits'));
  });

  test('does not block other statements while it waits for a long transaction', async () => {
    await using db = await open({ migrated: false });
    await migrate(db, [notes]);
    const log: string[] = [];
    const [reads, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // Also when the test fails: the database cannot be closed before.
    using _over = { [Symbol.dispose]: () => over.resolve() };
    const long = db.transaction('sync', async (tx) => {
      await tx.all(sql`select 1 from notes`);
      reads.resolve();
      await over.promise;
    });
    await reads.promise;
    let isDone = false;
    const migrating = migrate(db, [notes, authors], (message) => log.push(message)).finally(() => {
      isDone = true;
    });
    let reads_done = 0;
    while (log.filter((line) => line.includes('in use')).length < 3) {
      await db.all(sql`select 1 from notes`);
      reads_done += 1;
    }
    // They end before the long one does, and before the migration.
    expect(reads_done).toBeGreaterThan(0);
    expect(isDone).toBe(false);
    over.resolve();
    await Promise.all([long, migrating]);
    expect(await versions(db)).toEqual([1, 2]);
  });

  test('is applied once by many servers that start at once', async () => {
    await using db = await open({ migrated: false });
    const applied: string[] = [];
    const slow: Migration = {
      version: 1,
      name: 'slow',
      text: 'create table notes (id integer);\nselect pg_sleep(0.2);',
    };
    const each = () => migrate(db, [slow], (message) => applied.push(message));
    await Promise.all(Array.from({ length: 8 }, each));
    expect(applied.filter((message) => message === 'migrating the database')).toHaveLength(1);
    await db.run(raw('insert into notes values (1)'));
  });
});
