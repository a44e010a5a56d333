import { expect, test } from 'vitest';
import { number, text } from '../../src/db/columns.ts';
import type { Db, Transaction } from '../../src/db/db.ts';
import { type DialectSql, raw, type Sql, sql } from '../../src/db/sql.ts';
import { NOW, nowPlus } from '../../src/db/time.ts';
import { describeEachDatabase, type OpenDatabase } from '../support/databases.ts';

async function openWithNotes(open: OpenDatabase): Promise<Db> {
  const db = await open({ migrated: false });
  await db.run(raw('create table notes (id integer primary key, note text not null)'));
  return db;
}

function insert(target: Db | Transaction, id: number): Promise<number> {
  return target.run(sql`insert into notes (id, note) values (${id}, ${`note ${id}`})`);
}

async function ids(target: Db | Transaction): Promise<number[]> {
  return (await target.all(sql`select ${number('id')} from notes order by id`)).map((row) => row.id);
}

describeEachDatabase('transactions', (open) => {
  test('writes of a transaction are visible when it resolves', async () => {
    await using db = await openWithNotes(open);
    await db.transaction('sync', (tx) => insert(tx, 1));
    await db.transaction('async', (tx) => insert(tx, 2));
    await insert(db, 3);
    await db.run(sql`insert into notes (id, note) values (4, 'relaxed alone')`, 'async');
    expect(await ids(db)).toEqual([1, 2, 3, 4]);
  });

  test('a transaction reads its own writes and returns what its body returns', async () => {
    await using db = await openWithNotes(open);
    const seen = await db.transaction('sync', async (tx) => {
      await insert(tx, 1);
      return ids(tx);
    });
    expect(seen).toEqual([1]);
  });

  test('a body that throws leaves no writes, and its error is rethrown unchanged', async () => {
    await using db = await openWithNotes(open);
    const reason = new Error('changed my mind');
    const failed = db.transaction('sync', async (tx) => {
      await insert(tx, 1);
      throw reason;
    });
    await expect(failed).rejects.toBe(reason);
    expect(await ids(db)).toEqual([]);
  });

  test('deferred statements are executed in order, before awaited ones and before the commit', async () => {
    await using db = await openWithNotes(open);
    const [read, last] = await db.transaction('sync', async (tx) => {
      tx.defer(sql`insert into notes (id, note) values (1, 'a'), (2, 'b')`);
      const deleted = tx.defer(sql`delete from notes where note = 'a'`);
      const seen = await ids(tx);
      expect(deleted.changes).toBe(1);
      tx.defer(sql`insert into notes (id, note) values (3, 'c')`);
      return [seen, tx.defer(sql`update notes set note = 'd' where id > 1`)];
    });
    expect(read).toEqual([2]);
    expect(last).toMatchObject({ changes: 2 });
    expect(await db.all(sql`select ${text('note')} from notes order by id`)).toEqual([
      { note: 'd' },
      { note: 'd' },
    ]);
  });

  test('a deferred statement that fails rolls its transaction back', async () => {
    await using db = await openWithNotes(open);
    const refused = sql`insert into notes (id, note) values (1, null)`;
    const last = db.transaction('sync', async (tx) => {
      await insert(tx, 1);
      tx.defer(refused);
    });
    await expect(last).rejects.toThrow();
    const beforeAnother = db.transaction('sync', async (tx) => {
      await insert(tx, 2);
      tx.defer(refused);
      await insert(tx, 3);
    });
    await expect(beforeAnother).rejects.toThrow();
    await db.transaction('sync', (tx) => insert(tx, 4));
    expect(await ids(db)).toEqual([4]);
  });

  test('a body that throws leaves no deferred or unawaited writes', async () => {
    await using db = await openWithNotes(open);
    const failing = db.transaction('sync', async (tx) => {
      await insert(tx, 1);
      tx.defer(sql`insert into notes (id, note) values (2, 'deferred')`);
      insert(tx, 3).catch(() => {});
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    await db.transaction('sync', (tx) => insert(tx, 4));
    expect(await ids(db)).toEqual([4]);
  });

  test('if transactions that start together fail in part, only the failed ones are rolled back', async () => {
    await using db = await openWithNotes(open);
    await insert(db, 4);
    const results = await Promise.allSettled([
      db.transaction('sync', (tx) => insert(tx, 1)),
      db.transaction('sync', async (tx) => {
        await insert(tx, 2);
        throw new Error('no');
      }),
      db.transaction('sync', (tx) => insert(tx, 4)),
      db.transaction('async', (tx) => insert(tx, 3)),
    ]);
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(await ids(db)).toEqual([1, 3, 4]);
  });

  test('transactions on one row are serialized', async () => {
    await using db = await openWithNotes(open);
    await db.run(sql`insert into notes (id, note) values (1, '0')`);
    await Promise.all(
      Array.from({ length: 20 }, () =>
        db.transaction('sync', async (tx) => {
          await tx.run(sql`update notes set note = note where id = 1`);
          const row = await tx.get(sql`select ${text('note')} from notes where id = 1`);
          await tx.run(sql`update notes set note = ${String(Number(row?.note) + 1)} where id = 1`);
        }),
      ),
    );
    expect(await db.get(sql`select note from notes`)).toEqual({ note: '20' });
  });

  test('run returns the number of changed rows', async () => {
    await using db = await openWithNotes(open);
    await Promise.all([1, 2, 3].map((id) => insert(db, id)));
    expect(await db.run(sql`update notes set note = 'x' where id > 1`)).toBe(2);
    expect(await db.run(sql`delete from notes where id = 9`)).toBe(0);
  });

  test('closing a database twice is allowed', async () => {
    const db = await openWithNotes(open);
    await db[Symbol.asyncDispose]();
    await db[Symbol.asyncDispose]();
  });
});

describeEachDatabase('values', (open) => {
  test('are read as they were written', async () => {
    await using db = await open();
    await db.run(sql`
      insert into threads (thread_id, status, metadata, config, created_at, updated_at, state_updated_at)
      values ('00000000-0000-0000-0000-00000000000a', 'idle', '{"a":1}', '{ "kept" : true }',
        '2026-01-02T03:04:05.678Z', '2026-01-02T03:04:05.6Z', ${NOW})`);
    const row = await db.get(sql`
      select config, metadata, error, created_at, count(*) over () as count, exists (select 1 from threads) as some
      from threads`);
    expect(row).toEqual({
      config: '{ "kept" : true }',
      metadata: expect.stringMatching(/^\{"a": ?1\}$/),
      error: null,
      created_at: '2026-01-02T03:04:05.678Z',
      count: 1,
      some: 1,
    });
  });

  test('bytes come back as bytes', async () => {
    await using db = await open({ migrated: false });
    await db.run(raw(`create table files (content ${db.dialect === 'sqlite' ? 'blob' : 'bytea'})`));
    await db.run(sql`insert into files (content) values (${new Uint8Array([0, 1, 255])})`);
    const row = (await db.get(sql`select content from files`)) as { content: Uint8Array } | undefined;
    expect([...(row?.content ?? [])]).toEqual([0, 1, 255]);
  });

  test('times of the database are ISO-8601, and a time added to them is exact', async () => {
    await using db = await open();
    const read = async (time: Sql | DialectSql) =>
      (await db.get(sql`select ${time} as ${text('at')}`))?.at as string;
    const times = [await read(NOW), await read(nowPlus(90_000)), await read(NOW)];
    for (const at of times) expect(at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const [before, later, after] = times.map(Date.parse) as [number, number, number];
    expect([before, later - 90_000, after]).toEqual([before, later - 90_000, after].toSorted());
  });

  test('text that a database cannot store is replaced, not refused', async () => {
    await using db = await openWithNotes(open);
    await db.run(sql`insert into notes (id, note) values (1, ${'a\0b'})`);
    expect(await db.get(sql`select note from notes`)).toEqual({ note: 'a\uFFFDb' });
  });
});
