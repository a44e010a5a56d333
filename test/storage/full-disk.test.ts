import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InsufficientStorage } from '../../src/core/errors.ts';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { raw, sql } from '../../src/db/sql.ts';

const MB = 1024 ** 2;

const folder = mkdtempSync(join(tmpdir(), 'full-disk-'));
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'none', folder]).status === 0;
afterAll(() => {
  if (isMounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
});

async function fill(db: Db): Promise<number> {
  for (let id = 0; ; id++) {
    const written = await db
      .run(sql`insert into notes values (${id}, ${'x'.repeat(MB / 2)})`)
      .catch((error) => error);
    if (written instanceof InsufficientStorage) return id;
    expect(written).toBe(1);
  }
}

// A disk of one's own needs root.
describe.skipIf(!isMounted)('on a disk that is full', () => {
  let db: Db;
  let written: number;
  const reserve = () => statSync(join(folder, 'server.db.reserve')).size;
  beforeAll(async () => {
    db = openSqlite(join(folder, 'server.db'), { synchronous: 'full', disk_reserve: true });
    await db.run(raw('create table notes (id integer primary key, text text not null)'));
    written = await fill(db);
  });
  afterAll(() => db[Symbol.asyncDispose]());

  test('existing data is read, and writes are refused', async () => {
    expect(await db.get(sql`select count(*) as n from notes`)).toEqual({ n: written });
    await expect(db.run(sql`update notes set text = ${'y'.repeat(MB)} where id = 0`)).rejects.toThrow(
      InsufficientStorage,
    );
  });

  test('deletes succeed while writes fail, and free space for later writes', async () => {
    expect(reserve()).toBe(8 * MB);
    const remove = (id: number) => db.run(sql`delete from notes where id = ${id}`, 'reclaim');
    const large = db.run(sql`insert into notes values (1000, ${'x'.repeat(8 * MB)})`);
    const [one, refused, other] = await Promise.allSettled([remove(0), large, remove(1)]);
    expect([one, other]).toEqual(Array(2).fill({ status: 'fulfilled', value: 1 }));
    expect(refused.status === 'rejected' && refused.reason).toBeInstanceOf(InsufficientStorage);

    expect(await db.run(sql`insert into notes values (2000, 'there is room again')`)).toBe(1);
    expect(await db.get(sql`select count(*) as n from notes`)).toEqual({ n: written - 1 });
    for (let id = 2; id < written - 4; id++) await remove(id);
    expect(await db.run(sql`insert into notes values (3000, ${'x'.repeat(MB)})`)).toBe(1);
    expect(await db.all(raw('pragma integrity_check'))).toEqual([{ integrity_check: 'ok' }]);
  });

  test('a delete that succeeded is never reported as failed', async () => {
    const isLogLarge = () => statSync(join(folder, 'server.db-wal')).size > 8 * MB;
    for (let id = 5000; !isLogLarge() && id < 5040; id++) {
      await db.run(sql`insert into notes values (${id}, ${'x'.repeat(MB)})`).catch(() => undefined);
    }
    const ids = (await db.all(sql`select ${number('id')} from notes`)).map(({ id }) => id);
    for (const id of ids) expect(await db.run(sql`delete from notes where id = ${id}`, 'reclaim')).toBe(1);
    expect(await db.get(sql`select count(*) as n from notes`)).toEqual({ n: 0 });
  });
});
