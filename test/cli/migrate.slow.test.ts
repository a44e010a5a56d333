import { afterAll, describe, expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { openSqlite } from '../../src/db/engines/sqlite.ts';
import { sqlitePath } from '../../src/db/engines/sqlite-files.ts';
import { migrate, pendingMigrations } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { naming } from '../support/naming.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/postgres-schema.ts';
import { agentServer } from '../support/program.ts';
import { type Project, project } from '../support/project.ts';
import { startServer } from '../support/server.ts';
import { describeEachPlace } from '../support/storage-places.ts';

const FILES = {
  'agent.config.yaml': 'graphs: { a: "./a.mjs:graph" }\nserver: { port: 0 }',
  'a.mjs': 'export const graph = { stream() {}, getState() {} };\n',
};
const NEWEST = migrations.at(-1)?.version;

let made: Project | undefined;
afterAll(() => made?.[Symbol.asyncDispose]());

async function run(url: string, args: readonly string[], env: Record<string, string> = {}) {
  made ??= await project(FILES);
  return agentServer(args, { cwd: made.root, env: { DATABASE_URI: url, ...env } });
}

function openAsIs(url: string): Db {
  const path = sqlitePath(url);
  return path === undefined ? openPostgres(url) : openSqlite(path, { synchronous: 'normal' });
}

describeEachPlace('agent-server migrate', (place) => {
  test('lists what is pending, applies it once, and then finds nothing', { timeout: 60_000 }, async () => {
    const url = await place();
    const before = await run(url, ['migrate', '--check']);
    expect(before.code).toBe(1);
    expect(before.stdout).toMatch(/^pending: 1 base \(stop all servers/);
    expect(before.stdout).toMatch(/^pending: 15 migration compatibility \(.*previous version/m);

    const done = await run(url, ['migrate']);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toContain(`migrating the database: ${NEWEST} `);

    const nothing = { code: 0, stdout: 'The database is up to date.\n', stderr: '' };
    expect(await run(url, ['migrate'])).toEqual(nothing);
    expect(await run(url, ['migrate', '--check'])).toEqual(nothing);
  });

  test('refuses to run while servers are up, if the migration would break them', async () => {
    const url = await place();
    const contracting = migrations.findLast(({ expands }) => !expands)?.version as number;
    const before = migrations.filter(({ version }) => version < contracting);
    const versions = async () => {
      await using db = openAsIs(url);
      return (await pendingMigrations(db)).map(({ version }) => version);
    };
    {
      await using db = openAsIs(url);
      await migrate(db, before);
    }
    const pending = await versions();
    for (const args of [
      ['keys', 'list'],
      ['keys', 'create', '--name', 'a'],
    ]) {
      expect(await run(url, args)).toMatchObject({
        code: 1,
        stderr: naming('migrations', 'all servers', 'agent-server migrate'),
      });
    }
    expect(await versions()).toEqual(pending);
    expect((await run(url, ['migrate'])).code).toBe(0);
    expect((await run(url, ['keys', 'list'])).code).toBe(0);
  });

  test('is applied at start only if the configuration allows it', async () => {
    const url = await place();
    const refused = await run(url, ['start'], { AGENT_SERVER_DATABASE_MIGRATIONS: 'refuse' });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toEqual(naming('migrations 1, 2, ', 'agent-server migrate', 'storage.migrations'));
  });
});

describe.runIf(TEST_POSTGRES_URI)('servers that wait for their migration', () => {
  test('log what they wait for and start as soon as it is done', { timeout: 60_000 }, async () => {
    await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
    await using db = openPostgres(schema.url);
    const starting = startServer({
      env: { DATABASE_URI: schema.url, AGENT_SERVER_DATABASE_MIGRATIONS: 'wait' },
    });
    await migrate(db, migrations.slice(0, 3));
    await migrate(db);
    await using server = await starting;
    expect(await (await fetch(`${server.url}/ok?check_db=1`)).json()).toMatchObject({ ok: true });
  });

  test('serve while a newer program migrates, and start again after it', { timeout: 120_000 }, async () => {
    await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
    await using server = await startServer({ env: { DATABASE_URI: schema.url } });
    await using db = openPostgres(schema.url, { no_timeouts: true });
    let isDone = false;
    const [statuses, input] = [new Set<number>(), { messages: [] }];
    const load = Array.from({ length: 8 }, async () => {
      while (!isDone) {
        const body = JSON.stringify({ assistant_id: 'echo', input });
        const request = { method: 'POST', body, headers: { 'content-type': 'application/json' } };
        statuses.add((await fetch(`${server.url}/runs/wait`, request)).status);
        statuses.add((await fetch(`${server.url}/threads`, { ...request, body: '{}' })).status);
      }
    });
    // One busy table each: with locks on two, a migration and a run wait for each other.
    const added = [
      'create table later (id integer);',
      'alter table runs add column later text;',
      'alter table threads add column later integer not null default 1;',
      'create index threads_later on threads (later);',
    ].map((text, index) => ({ version: 901 + index, name: 'added', text, expands: true as const }));
    await migrate(db, [...migrations, ...added]).finally(() => {
      isDone = true;
    });
    await Promise.all(load);
    expect(statuses).toEqual(new Set([200]));
    await server.restart();
    expect(await (await fetch(`${server.url}/ok?check_db=1`)).json()).toMatchObject({ ok: true });
  });

  test('start together on an empty database', { timeout: 120_000 }, async () => {
    await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
    const start = () => startServer({ env: { DATABASE_URI: schema.url } });
    const servers = await Promise.all([start(), start(), start()]);
    const migrated = servers.flatMap(({ log }) =>
      log.filter(({ message }) => message === 'migrating the database'),
    );
    // Each once; another may go on where the first one lets the lock go.
    const versions = migrated.map(({ version }) => Number(version)).sort((a, b) => a - b);
    expect(versions).toEqual(migrations.map(({ version }) => version));
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
});
