import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { openApiKeys, openKeyRotation, openStorage } from '../../src/storage/storage.ts';
import { testSealer } from '../support/encryption.ts';
import { failure } from '../support/naming.ts';
import { agentServer } from '../support/program.ts';
import { project } from '../support/project.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'agent-server-files-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let made = 0;
function newFolder(): string {
  const folder = join(root, `folder-${++made}`);
  mkdirSync(join(folder, 'real'), { recursive: true });
  return folder;
}

const open = (path: string) => openStorage({ url: `sqlite:${path}`, synchronous: 'full' });
const key = {
  name: 'k',
  digest: 'd',
  scope: 'run',
  created_at: '2026-11-20T12:00:00.000Z',
  expires_at: null,
};

/** Each way to a file that is not its own path, made in the folder; gives the path that is configured. */
const LINKS: Record<string, (folder: string) => string> = {
  'a link to the file': (folder) => {
    symlinkSync('real/server.db', join(folder, 'link.db'));
    return join(folder, 'link.db');
  },
  'a link to a link': (folder) => {
    symlinkSync('real/server.db', join(folder, 'first.db'));
    symlinkSync(join(folder, 'first.db'), join(folder, 'second.db'));
    return join(folder, 'second.db');
  },
  'a link to its folder': (folder) => {
    symlinkSync('real', join(folder, 'data'));
    return join(folder, 'data/server.db');
  },
};

/** Permission bits of the files of a database that is open. */
const modesOf = (path: string) =>
  [path, `${path}-wal`, `${path}-shm`].map((file) => statSync(file).mode & 0o777);

test('a new database is readable only by its owner, and an existing one keeps its mode', async () => {
  const path = join(newFolder(), 'server.db');
  {
    await using _created = await open(path);
    expect(modesOf(path)).toEqual([0o600, 0o600, 0o600]);
  }
  chmodSync(path, 0o640);
  await using _opened = await open(path);
  expect(modesOf(path)).toEqual([0o640, 0o640, 0o640]);
});

describe.each(Object.entries(LINKS))('%s', (_name, make) => {
  test('opens the same database with one lock, whether or not the file exists yet', async () => {
    for (const isThere of [false, true]) {
      const folder = newFolder();
      const real = join(folder, 'real/server.db');
      if (isThere) await (await open(real))[Symbol.asyncDispose]();
      const link = make(folder);

      await using storage = await open(link);
      // A write that is promised waits for the log, which SQLite puts beside the real file.
      await storage.apiKeys.insert({
        ...key,
        key_id: crypto.randomUUID(),
        revoked_at: null,
        last_used_at: null,
      });
      await expect(open(real)).rejects.toThrow(failure(Error, real, `${real}.lock`));
      await expect(open(link)).rejects.toThrow(failure(Error, link, `${real}.lock`));

      await using keys = await openApiKeys({ url: `sqlite:${link}` });
      expect(await keys.apiKeys.list()).toHaveLength(1);
    }
  });
});

test('the encryption key is rotated through a link while a server runs', async () => {
  const folder = newFolder();
  const link = LINKS['a link to the file']?.(folder) as string;
  const sealer = testSealer();
  await using _server = await openStorage({
    url: `sqlite:${join(folder, 'real/server.db')}`,
    synchronous: 'full',
    encryptor: sealer,
  });
  await using encryption = await openKeyRotation({ url: `sqlite:${link}`, encryptor: sealer });
  expect(await encryption.rotate({ everything: false, onTable: () => {} })).toMatchObject({ unreadable: [] });
});

test('a database file with a hard link is refused under both names, by every command', async () => {
  const folder = newFolder();
  const [one, other] = [join(folder, 'one.db'), join(folder, 'other.db')];
  await (await open(one))[Symbol.asyncDispose]();
  linkSync(one, other);
  for (const path of [one, other]) {
    const refusal = `The database ${path} is a file with 2 names (hard links)`;
    await expect(open(path)).rejects.toThrow(refusal);
    await expect(openApiKeys({ url: `sqlite:${path}` })).rejects.toThrow(refusal);
    await expect(openKeyRotation({ url: `sqlite:${path}`, encryptor: testSealer() })).rejects.toThrow(
      refusal,
    );
  }
  rmSync(other);
  await (await open(one))[Symbol.asyncDispose]();
});

describe.each([
  ['tables of other names', 'create table songs (title text)'],
  ['a table that the server has too', 'create table assistants (phone text)'],
  ['migrations of its own', 'create table schema_migrations (version text); create table users (id integer)'],
])("another program's file with %s", (_name, schema) => {
  function foreign(folder: string): string {
    const path = join(folder, 'foreign.db');
    new Database(path).exec(schema).close();
    return path;
  }

  test('is refused by name and left unchanged', async () => {
    const path = foreign(newFolder());
    const before = readFileSync(path);
    const refusal = `The database ${path} belongs to another program: it has tables, but not those of this server. Set another "storage.url".`;
    await expect(open(path)).rejects.toThrow(refusal);
    await expect(openApiKeys({ url: `sqlite:${path}` })).rejects.toThrow(refusal);
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

test('is refused by the commands in one line', async () => {
  await using folder = await project({
    'agent.config.yaml': 'graphs: { a: "./a.mjs:graph" }\nstorage: { url: "sqlite:./foreign.db" }',
    'a.mjs': 'export const graph = { async *stream() {}, async getState() {} };',
  });
  new Database(folder.path('foreign.db')).exec('create table songs (title text)').close();
  for (const args of [
    ['start', '--port', '0'],
    ['keys', 'list'],
  ]) {
    const { code, stderr, stdout } = await agentServer(args, { cwd: folder.root });
    expect(code).toBe(1);
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('another program'));
    expect(lines).toHaveLength(1);
    expect(`${stdout}${stderr}`).not.toMatch(/\n\s+at /);
  }
});
