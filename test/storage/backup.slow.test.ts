import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { sqlitePath } from '../../src/db/engines/sqlite-files.ts';
import { raw } from '../../src/db/sql.ts';
import { backupDatabase } from '../../src/storage/backup/backup.ts';
import { restoreDatabase } from '../../src/storage/backup/restore.ts';
import { openTarget } from '../../src/storage/copy/databases.ts';
import { openStorage } from '../../src/storage/storage.ts';
import { HAS_POSTGRES } from '../support/databases-by-url.ts';
import { testSealer } from '../support/encryption.ts';
import { fillEveryTable, useDatabases } from '../support/every-row.ts';
import { rowsOf } from '../support/rows-of.ts';

describe.runIf(HAS_POSTGRES)('a backup', () => {
  const places = useDatabases();

  type Engine = 'sqlite' | 'postgres';
  const place = async (engine: Engine) => (engine === 'sqlite' ? places.sqlite() : await places.postgres());
  const newFile = () => join(places.folder, `${randomUUID()}.backup`);

  async function filled(engine: Engine, rows = 5): Promise<string> {
    const url = await place(engine);
    await using db = await openTarget(url);
    await fillEveryTable(db, places.empty, rows);
    return url;
  }

  async function backupOf(url: string): Promise<string> {
    const file = newFile();
    await backupDatabase({ url, file });
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
    await restoreDatabase({ file, url: target });
    expect(await rowsOf(target)).toEqual(before);
    await using _served = await openStorage({ url: target, synchronous: 'full' });
  });

  test('is one moment of a server that keeps writing, in one file that only its owner can read', async () => {
    const url = await filled('sqlite', 100);
    await using server = await openStorage({ url, synchronous: 'full' });
    const before = await rowsOf(url);
    const file = newFile();
    const [backup] = await Promise.all([
      backupDatabase({ url, file }),
      ...Array.from({ length: 50 }, (_, n) => server.secrets.getOrCreate(`later ${n}`, 'x')),
    ]);
    const { server_secrets, ...others } = await rowsOf(`sqlite:${file}`);
    expect(before).toMatchObject(others);
    expect(before['server_secrets']?.every((row) => server_secrets?.includes(row))).toBe(true);
    expect(backup).toEqual({ bytes: statSync(file).size, encrypted: false, deployments: [] });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(places.folder).filter((name) => name.startsWith(basename(file)))).toEqual([
      basename(file),
    ]);
  });

  test('says whether it is encrypted, and holds no key', async () => {
    const url = places.sqlite();
    const file = newFile();
    await (await openStorage({ url, synchronous: 'full', encryptor: testSealer() }))[Symbol.asyncDispose]();
    expect(await backupDatabase({ url, file })).toMatchObject({ encrypted: true });
    const to = await places.postgres();
    await expect(restoreDatabase({ file, url: to })).rejects.toThrow('no key is configured');
    await restoreDatabase({ file, url: to, encryptor: testSealer() });
    await using _served = await openStorage({ url: to, synchronous: 'full', encryptor: testSealer() });
  });

  test('replaces no file unless told to, and never the database itself', async () => {
    const url = await filled('sqlite');
    const file = await backupOf(url);
    const bytes = readFileSync(file);
    await expect(backupDatabase({ url, file })).rejects.toThrow(
      /exists\. Name another file, or replace it with --force/,
    );
    expect(readFileSync(file).equals(bytes)).toBe(true);
    await backupDatabase({ url, file, force: true });
    const path = sqlitePath(url) as string;
    await expect(backupDatabase({ url, file: path, force: true })).rejects.toThrow('file of the database');
    await expect(backupDatabase({ url: places.sqlite('none'), file: newFile() })).rejects.toThrow(
      'no database',
    );
  });

  test.each(['sqlite', 'postgres'] as const)('replaces data on %s only with force', async (engine) => {
    const file = await backupOf(await filled('sqlite'));
    const target = await filled(engine);
    const before = await rowsOf(target);
    await expect(restoreDatabase({ file, url: target })).rejects.toThrow('not empty');
    expect(await rowsOf(target)).toEqual(before);
    await restoreDatabase({ file, url: target, force: true });
    expect(await rowsOf(target)).toEqual(await rowsOf(`sqlite:${file}`));
  });

  test.each(['sqlite', 'postgres'] as const)(
    'is not restored into %s while a server uses it',
    async (engine) => {
      const file = await backupOf(await filled('sqlite'));
      const url = await place(engine);
      await using server = await openStorage({ url, synchronous: 'full' });
      await server.queue.heartbeat(
        { worker_id: randomUUID(), host: 'h', pid: 1, version: '1', slots: 1 },
        20_000,
      );
      await expect(restoreDatabase({ file, url, force: true })).rejects.toThrow(
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
    await expect(restoreDatabase({ file, url, force: true })).rejects.toThrow(message);
    expect(await rowsOf(url)).toEqual(before);
    expect(existsSync(`${sqlitePath(url)}.restore`)).toBe(false);
  });

  test('replaces a database that is damaged, with its log', async () => {
    const file = await backupOf(await filled('sqlite'));
    const url = await filled('sqlite');
    const path = sqlitePath(url) as string;
    writeFileSync(path, 'overwritten by something else');
    writeFileSync(`${path}-wal`, 'a log of what was there');
    await restoreDatabase({ file, url, force: true });
    expect(await rowsOf(url)).toEqual(await rowsOf(`sqlite:${file}`));
  });

  test('of an older version is migrated on its way into PostgreSQL', async () => {
    const file = await backupOf(await filled('sqlite'));
    // What these tables and columns had is not in an older database.
    const later = [
      ...['run_steps', 'run_attempts', 'run_logs', 'removed_run_logs', 'worker_details', 'interrupt_answers'],
      ...['usage_entries', 'usage_days', 'usage_totals', 'usage_key_entries', 'usage_keys'],
      ...['budget_runs', 'budget_sums', 'thread_deletions'],
      ...['deployment_hooks', 'deployment_repositories'],
      ...['deployment_secrets', 'deployment_revisions', 'deployments', 'deployment_owner'],
    ];
    const emptied = later.map((table) => `delete from ${table};`).join(' ');
    withSql(
      file,
      `update run_queue set owner = null, priority = 0, revision_id = null; update threads set revision_id = null; update runs set key_id = null, assistant_name = null, assistant_version = null, revision_id = null; update webhook_attempts set answer_headers = null; update checkpoint_writes set task_path = ''; update workers set graph_ids = null; update webhook_outbox set worker_id = null, worker_token = null; ${emptied}`,
    );
    const rows = await rowsOf(`sqlite:${file}`);
    withSql(
      file,
      `drop index a2a_tasks_state; create index a2a_tasks_waiting on a2a_tasks (run_id);
      alter table schema_migrations drop column expands;
      drop index run_queue_blocked; drop index run_queue_owner; drop index run_queue_owner_running;
      create index run_queue_parked on run_queue (not_before); create index runs_assistant on runs (assistant_id);
      drop index a2a_turns_unstored; alter table a2a_turns rename column is_stored to is_kept;
      create index a2a_turns_unkept on a2a_turns (run_id);
      ${['insert', 'update', 'delete'].map((event) => `drop trigger threads_values_summary_terms_${event};`).join(' ')}
      alter table threads rename column values_summary to outline;
      alter table threads_values_summary_terms rename to threads_outline_terms;
      ${['insert', 'update', 'delete'].map((event) => `create trigger threads_outline_terms_${event} after ${event} on threads begin select 1; end;`).join(' ')}
      drop index run_queue_priority; drop index run_queue_owner_priority;
      alter table run_queue drop column priority; alter table run_queue drop column revision_id;
      alter table threads drop column revision_id;
      alter table run_queue drop column owner; alter table runs drop column key_id; alter table workers drop column graph_ids;
      alter table runs drop column assistant_name; alter table runs drop column assistant_version;
      alter table runs drop column revision_id;
      alter table webhook_attempts drop column answer_headers; alter table checkpoint_writes drop column task_path;
      drop index webhook_outbox_worker; alter table webhook_outbox drop column worker_id;
      alter table webhook_outbox drop column worker_token;
      drop index runs_ended; drop index threads_waiting;
      drop index runs_created; drop index runs_assistant_created; drop index runs_failed_created;
      ${later.map((table) => `drop table ${table};`).join(' ')}
      delete from schema_migrations where version > 13`,
    );
    const url = await places.postgres();
    await restoreDatabase({ file, url });
    expect(await rowsOf(url)).toEqual(rows);
  });

  test('leaves PostgreSQL as it was when it fails half-way', async () => {
    const url = await filled('postgres');
    const before = await rowsOf(url);
    const file = await backupOf(await filled('sqlite', 30));
    withSql(file, "update threads set created_at = 'no time at all' where row_id = 20");
    await expect(restoreDatabase({ file, url, force: true })).rejects.toThrow();
    expect(await rowsOf(url)).toEqual(before);
    await using db = await openTarget(url);
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
