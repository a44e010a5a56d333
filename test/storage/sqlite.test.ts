import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { InsufficientStorage, Unavailable } from '../../src/core/errors.ts';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { plainCipher } from '../../src/db/encryption/cipher.ts';
import { DiskReserve } from '../../src/db/engines/disk-reserve.ts';
import { GroupCommit } from '../../src/db/engines/group-commit.ts';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { connect } from '../../src/db/engines/sqlite-connection.ts';
import { WalSync } from '../../src/db/engines/wal-sync.ts';
import { raw, sql } from '../../src/db/sql.ts';
import { failure } from '../support/naming.ts';

const root = mkdtempSync(join(tmpdir(), 'agent-server-sqlite-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
function newFile(): string {
  const folder = join(root, `folder-${++made}`);
  return join(folder, 'server.db');
}

async function openWithNotes(path: string, synchronous: 'full' | 'normal' = 'full'): Promise<Db> {
  const db = openSqlite(path, { synchronous });
  await db.run(raw('create table notes (id integer primary key, note text)'));
  return db;
}

/** Frames of the write-ahead log that end a commit name the size of the database. */
function commits(path: string): number {
  const log = readFileSync(`${path}-wal`);
  const frame_bytes = 24 + log.readUInt32BE(8);
  let count = 0;
  for (let at = 32; at < log.length; at += frame_bytes) count += log.readUInt32BE(at + 4) > 0 ? 1 : 0;
  return count;
}

/** A process that has written a note and goes on holding the database. */
async function startServer(path: string): Promise<AsyncDisposable & { kill(): Promise<void> }> {
  const engine = new URL('../../src/db/engines/sqlite.ts', import.meta.url).href;
  const program = `
    const { openSqlite } = await import(${JSON.stringify(engine)});
    const text = (text) => ({ strings: [text], parts: [] });
    globalThis.db = openSqlite(${JSON.stringify(path)}, { synchronous: 'full' });
    await db.run(text('create table notes (id integer primary key)'));
    await db.run(text('insert into notes values (1)'));
    process.stdout.write('ready');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  await once(child.stdout, 'data');
  return { kill, [Symbol.asyncDispose]: kill };
}

test('transactions of one turn of the event loop share a commit', async () => {
  const path = newFile();
  await using db = await openWithNotes(path);
  const before = commits(path);
  await Promise.all(
    Array.from({ length: 50 }, (_, id) =>
      db.transaction('sync', (tx) => tx.run(sql`insert into notes values (${id}, 'x')`)),
    ),
  );
  expect(commits(path) - before).toBe(1);
  expect(await db.get(sql`select count(*) as count from notes`)).toEqual({ count: 50 });
});

test('a transaction that shares a commit with a failing one is executed again, but not next to later failing ones', async () => {
  await using db = await openWithNotes(newFile());
  let executions = 0;
  const besideOneThatFails = async (id: number) => {
    const written = db.transaction('sync', async (tx) => {
      executions += 1;
      await tx.run(sql`insert into notes values (${id}, ${`execution ${executions}`})`);
      return executions;
    });
    const failing = db.transaction('sync', async (tx) => {
      await tx.run(sql`insert into notes values (${id + 1}, 'failed')`);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    return written;
  };

  expect(await besideOneThatFails(10)).toBe(2);
  expect(await besideOneThatFails(20)).toBe(3);
  expect(await db.all(sql`select id, note from notes order by id`)).toEqual([
    { id: 10, note: 'execution 2' },
    { id: 20, note: 'execution 3' },
  ]);
});

test('a transaction is not visible before its commit', async () => {
  await using db = await openWithNotes(newFile());
  const count = () => db.get(sql`select count(*) as ${number('count')} from notes`);
  let during: unknown;
  await db.transaction('sync', async (tx) => {
    await tx.run(sql`insert into notes values (1, 'x')`);
    during = count();
  });
  expect(await during).toEqual({ count: 0 });
  expect(await count()).toEqual({ count: 1 });
});

test('a durable transaction waits for the disk without delaying others', async () => {
  const connection = connect(join(root, `queue-${++made}.db`), { readonly: false });
  const disk = Promise.withResolvers<void>();
  const queue = new GroupCommit(connection, () => disk.promise, plainCipher);
  const settled: string[] = [];
  const add = (durability: 'sync' | 'async') =>
    queue.add(durability, async () => {}).then(() => settled.push(durability));
  const promised = add('sync');
  await add('async');
  await add('async');
  expect(settled).toEqual(['async', 'async']);
  disk.resolve();
  await promised;
  expect(settled).toEqual(['async', 'async', 'sync']);
  connection.close();
});

test('a durable transaction fails if the disk cannot sync', async () => {
  const connection = connect(join(root, `queue-${++made}.db`), { readonly: false });
  const queue = new GroupCommit(connection, () => Promise.reject(new Error('EIO')), plainCipher);
  await expect(queue.add('sync', async () => {})).rejects.toThrow('EIO');
  await queue.add('async', async () => {});
  await queue.drained();
  connection.close();
});

test('a disk that fails while the reserve is used fails that delete alone', async () => {
  const path = newFile();
  await using db = await openWithNotes(path);
  await db.run(sql`insert into notes values (1, 'x')`);
  const connection = connect(path, { readonly: false });
  const reserve = new DiskReserve(path);
  reserve.fitsWalOf = () => {
    throw new Error('disk I/O error');
  };
  const queue = new GroupCommit(connection, async () => {}, plainCipher, reserve);
  const full = Object.assign(new Error('disk is full'), { code: 'SQLITE_FULL' });
  const failing = queue.add('reclaim', () => Promise.reject(full));
  await expect(failing).rejects.toThrow('disk I/O error');
  await queue.add('async', async () => {});
  await queue.drained();
  connection.close();
});

test('one flush serves all callers that arrived before it started, and none that arrived later', async () => {
  const path = newFile();
  await using db = await openWithNotes(path);
  using walSync = new WalSync(path);
  const first = walSync.sync();
  expect(walSync.sync()).toBe(first);
  await first;
  const second = walSync.sync();
  expect(second).not.toBe(first);
  await second;
  await db.run(sql`insert into notes values (1, 'x')`);
});

test('a transaction that awaits anything else fails alone and cannot write later', async () => {
  await using db = await openWithNotes(newFile());
  let later: Promise<unknown> | undefined;
  const nested = db.transaction('sync', async (tx) => {
    await tx.run(sql`insert into notes values (1, 'from a body that waits')`);
    // Waits for a transaction that waits for this one.
    await db.run(sql`insert into notes values (2, 'inner')`);
    later = tx.run(sql`insert into notes values (3, 'too late')`);
    await later;
  });
  const neighbour = db.run(sql`insert into notes values (4, 'neighbour')`);
  await expect(nested).rejects.toThrow('its own statements');
  await neighbour;
  await db.run(sql`insert into notes values (5, 'after')`);
  await expect(later).rejects.toThrow('over');
  expect(await db.all(sql`select id from notes`)).toEqual([{ id: 2 }, { id: 4 }, { id: 5 }]);
});

test('a full disk refuses writes with 507, keeps reads, and recovers', async () => {
  await using db = await openWithNotes(newFile());
  const limitPages = (pages: number) =>
    db.transaction('async', (tx) => tx.get(raw(`pragma max_page_count = ${pages}`)));
  await db.run(sql`insert into notes values (1, 'before')`);
  await limitPages(1);
  const large = 'x'.repeat(100_000);
  const writes = await Promise.allSettled([
    db.run(sql`insert into notes values (2, ${large})`),
    db.run(sql`insert into notes values (3, ${large})`),
  ]);
  expect(writes.map((write) => write.status === 'rejected' && write.reason)).toEqual([
    expect.any(InsufficientStorage),
    expect.any(InsufficientStorage),
  ]);
  expect(await db.all(sql`select id from notes`)).toEqual([{ id: 1 }]);
  await limitPages(1_000_000);
  await db.run(sql`insert into notes values (2, ${large})`);
  expect(await db.all(sql`select id from notes`)).toEqual([{ id: 1 }, { id: 2 }]);
});

test('closing waits for open transactions and refuses later ones', async () => {
  const path = newFile();
  const db = await openWithNotes(path);
  const last = db.run(sql`insert into notes values (1, 'last')`);
  await db[Symbol.asyncDispose]();
  await last;
  await expect(db.run(sql`insert into notes values (2, 'x')`)).rejects.toThrow(Unavailable);
  await expect(db.all(sql`select 1`)).rejects.toThrow(Unavailable);
  await using again = openSqlite(path, { synchronous: 'full' });
  expect(await again.all(sql`select id from notes`)).toEqual([{ id: 1 }]);
});

test('more statements than are cached as prepared still work', async () => {
  await using db = await openWithNotes(newFile());
  for (let i = 0; i < 1100; i++) expect(await db.get(raw(`select ${i} as i`))).toEqual({ i });
});

test('two servers cannot open one file', async () => {
  const path = newFile();
  await using _first = openSqlite(path, { synchronous: 'full' });
  expect(() => openSqlite(path, { synchronous: 'full' })).toThrow(
    failure(Unavailable, path, `${path}.lock`, 'storage.url'),
  );
});

test('a file that is not a database is refused by name, and its lock is released', async () => {
  const folder = join(root, `folder-${++made}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'notes.txt'), 'no database at all '.repeat(100));
  const open = (name: string) => () => openSqlite(join(folder, name), { synchronous: 'full' });
  expect(open('notes.txt')).toThrow(failure(Unavailable, `${folder}/notes.txt`, 'not a database'));
  expect(open('notes.txt')).toThrow(failure(Unavailable, 'not a database'));
  expect(open('notes.txt/server.db')).toThrow(`${folder}/notes.txt/server.db cannot be opened`);
});

test('a folder in place of a database is refused with the file to use instead', () => {
  const folder = join(root, `folder-${++made}`);
  mkdirSync(join(folder, 'of', 'folders'), { recursive: true });
  expect(() => openSqlite(folder, { synchronous: 'full' })).toThrow(
    failure(Unavailable, `${folder} is a folder`, `${folder}/server.db`),
  );
});

test('after a server was killed, its lock is free and its commits are there', async () => {
  const path = newFile();
  await using server = await startServer(path);
  expect(() => openSqlite(path, { synchronous: 'full' })).toThrow('Another server');
  await server.kill();
  expect(existsSync(`${path}.lock`)).toBe(true);
  await using db = openSqlite(path, { synchronous: 'full' });
  expect(await db.all(sql`select id from notes`)).toEqual([{ id: 1 }]);
});
