import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import { InvalidInput } from '../../../src/core/errors.ts';
import { sqlitePath } from '../../../src/db/engines/sqlite-files.ts';
import { raw } from '../../../src/db/sql.ts';
import { backupDatabase } from '../../../src/extensions/operations/backup/backup.ts';
import { restoreDatabase } from '../../../src/extensions/operations/backup/restore.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { HAS_POSTGRES } from '../../support/databases-by-url.ts';
import { testSealer } from '../../support/encryption.ts';
import { fillEveryTable, useDatabases } from '../../support/every-row.ts';
import { failure } from '../../support/naming.ts';
import { nextRelease } from '../../support/next-release.ts';
import { agentServer } from '../../support/program.ts';
import { rowsOf } from '../../support/rows-of.ts';

describe.runIf(HAS_POSTGRES)('a backup', () => {
  const places = useDatabases();

  type Engine = 'sqlite' | 'postgres';
  const place = async (engine: Engine) => (engine === 'sqlite' ? places.sqlite() : await places.postgres());
  const newFile = () => join(places.folder, `${randomUUID()}.backup`);

  async function filled(engine: Engine, rows = 5): Promise<string> {
    const url = await place(engine);
    await using db = await openTarget(url, { owned: OWNED_DATA });
    await fillEveryTable(db, places.empty, rows);
    return url;
  }

  async function backupOf(url: string): Promise<string> {
    const file = newFile();
    await backupDatabase({ owned: OWNED_DATA, url, file });
    return file;
  }

  test.each([
    ['sqlite', 'sqlite'],
    ['sqlite', 'postgres'],
    ['postgres', 'sqlite'],
    ['postgres', 'postgres'],
  ] as const)('of %s restores into %s with every row', async (from, to) => {
    const url = await filled(from);
    const before = await rowsOf(url);
    const file = await backupOf(url);
    expect(await rowsOf(`sqlite:${file}`)).toEqual(before);

    const target = await place(to);
    await restoreDatabase({ owned: OWNED_DATA, file, url: target });
    expect(await rowsOf(target)).toEqual(before);
    await using _served = await openStorage({ owned: OWNED_DATA, url: target, synchronous: 'full' });
  });

  test('is a consistent snapshot of a server that keeps writing, in one file that only its owner can read', async () => {
    const url = await filled('sqlite', 100);
    await using server = await openStorage({ owned: OWNED_DATA, url, synchronous: 'full' });
    const before = await rowsOf(url);
    const file = newFile();
    const [backup] = await Promise.all([
      backupDatabase({ owned: OWNED_DATA, url, file }),
      ...Array.from({ length: 50 }, (_, n) => server.secrets.getOrCreate(`later ${n}`, 'x')),
    ]);
    const { server_secrets, ...others } = await rowsOf(`sqlite:${file}`);
    expect(before).toMatchObject(others);
    expect(before['server_secrets']?.every((row) => server_secrets?.includes(row))).toBe(true);
    expect(backup).toEqual({ bytes: statSync(file).size, encrypted: false, files: {} });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(places.folder).filter((name) => name.startsWith(basename(file)))).toEqual([
      basename(file),
    ]);
  });

  test('records whether it is encrypted, and contains no key', async () => {
    const url = places.sqlite();
    const file = newFile();
    await (await openStorage({ owned: OWNED_DATA, url, synchronous: 'full', encryptor: testSealer() }))[
      Symbol.asyncDispose
    ]();
    expect(await backupDatabase({ owned: OWNED_DATA, url, file })).toMatchObject({ encrypted: true });
    const to = await places.postgres();
    await expect(restoreDatabase({ owned: OWNED_DATA, file, url: to })).rejects.toThrow(
      failure(Error, 'LANGGRAPH_AES_KEY'),
    );
    await restoreDatabase({ owned: OWNED_DATA, file, url: to, encryptor: testSealer() });
    await using _served = await openStorage({
      owned: OWNED_DATA,
      url: to,
      synchronous: 'full',
      encryptor: testSealer(),
    });
  });

  test('replaces a file only with force, and never the database itself', async () => {
    const url = await filled('sqlite');
    const file = await backupOf(url);
    const bytes = readFileSync(file);
    await expect(backupDatabase({ owned: OWNED_DATA, url, file })).rejects.toThrow(
      failure(Error, file, '--force'),
    );
    expect(readFileSync(file).equals(bytes)).toBe(true);
    await backupDatabase({ owned: OWNED_DATA, url, file, force: true });
    const path = sqlitePath(url) as string;
    await expect(backupDatabase({ owned: OWNED_DATA, url, file: path, force: true })).rejects.toThrow(
      failure(InvalidInput, 'database itself'),
    );
    await expect(
      backupDatabase({ owned: OWNED_DATA, url: places.sqlite('none'), file: newFile() }),
    ).rejects.toThrow('no database');
  });

  test.each(['sqlite', 'postgres'] as const)('replaces data on %s only with force', async (engine) => {
    const file = await backupOf(await filled('sqlite'));
    const target = await filled(engine);
    const before = await rowsOf(target);
    await expect(restoreDatabase({ owned: OWNED_DATA, file, url: target })).rejects.toThrow('not empty');
    expect(await rowsOf(target)).toEqual(before);
    await restoreDatabase({ owned: OWNED_DATA, file, url: target, force: true });
    expect(await rowsOf(target)).toEqual(await rowsOf(`sqlite:${file}`));
  });

  test.each(['sqlite', 'postgres'] as const)(
    'is not restored into %s while a server uses it',
    async (engine) => {
      const file = await backupOf(await filled('sqlite'));
      const url = await place(engine);
      await using server = await openStorage({ owned: OWNED_DATA, url, synchronous: 'full' });
      await server.queue.heartbeat(
        { worker_id: randomUUID(), host: 'h', pid: 1, version: '1', slots: 1 },
        20_000,
      );
      await expect(restoreDatabase({ owned: OWNED_DATA, file, url, force: true })).rejects.toThrow(
        /server (uses|is using) the database/,
      );
    },
  );

  test.each([
    ['missing', () => {}, /There is no database/],
    ['damaged', (file: string) => damage(file), /damaged|malformed|not a database/],
    [
      'no database',
      (file: string) => writeFileSync(file, 'not at all a database '.repeat(100)),
      /not a database/,
    ],
    [
      'of another program',
      (file: string) => withSql(file, 'create table theirs (x)'),
      /belongs to another program/,
    ],
    ['of a newer version', (file: string) => withSql(file, NEWER), /Run a newer version of the program/],
  ])('that is %s is refused before anything is replaced', async (kind, spoil, message) => {
    const fresh = kind === 'damaged' || kind === 'of a newer version';
    const file = fresh ? await backupOf(await filled('sqlite', 60)) : newFile();
    spoil(file);
    const url = await filled('sqlite');
    const before = await rowsOf(url);
    await expect(restoreDatabase({ owned: OWNED_DATA, file, url, force: true })).rejects.toThrow(message);
    expect(await rowsOf(url)).toEqual(before);
    expect(existsSync(`${sqlitePath(url)}.restore`)).toBe(false);
  });

  test('replaces a damaged database and its write-ahead log', async () => {
    const file = await backupOf(await filled('sqlite'));
    const url = await filled('sqlite');
    const path = sqlitePath(url) as string;
    writeFileSync(path, 'overwritten by something else');
    writeFileSync(`${path}-wal`, 'a log of what was there');
    await restoreDatabase({ owned: OWNED_DATA, file, url, force: true });
    expect(await rowsOf(url)).toEqual(await rowsOf(`sqlite:${file}`));
  });

  test('of the previous release is migrated while the next one restores it', async () => {
    await using release = await nextRelease();
    const from = await filled('sqlite');
    const before = await rowsOf(from);
    const file = await backupOf(from);
    const url = await places.postgres();
    const env = { DATABASE_URI: url };
    const restored = await agentServer(['restore', file], { program: release.program, env });
    expect(restored).toMatchObject({ code: 0 });
    const { releases, ...after } = await rowsOf(url);
    expect(releases).toEqual([]);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    for (const table of ['threads', 'checkpoints', 'store_items'])
      expect(after[table]).toEqual(before[table]);
  });

  test('leaves PostgreSQL unchanged when its restore fails half-way', async () => {
    const url = await filled('postgres');
    const before = await rowsOf(url);
    const file = await backupOf(await filled('sqlite', 30));
    withSql(file, "update threads set created_at = 'no time at all' where row_id = 20");
    await expect(restoreDatabase({ owned: OWNED_DATA, file, url, force: true })).rejects.toThrow();
    expect(await rowsOf(url)).toEqual(before);
    await using db = await openTarget(url, { owned: OWNED_DATA });
    expect(await db.all(raw('select 1 from threads'))).toHaveLength(5);
  });
});

const NEWER = `insert into schema_migrations (version, name, applied_at) values (9999, 'later', '2030-01-01T00:00:00.000Z')`;

function withSql(file: string, script: string): void {
  const db = new Database(file);
  db.exec(script);
  db.close();
}

/** Overwrites pages in the middle. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 40_000);
  writeFileSync(file, bytes);
}
