import { afterAll, describe, expect, test } from 'vitest';
import { OWNED_DATA } from '../../src/app/extensions.ts';
import { openPostgres } from '../../src/db/engines/postgres.ts';
import { migrate } from '../../src/db/migrate.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { allMigrations } from '../../src/storage/owned-data.ts';
import { naming } from '../support/naming.ts';
import { nextRelease } from '../support/next-release.ts';
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
/** With those of extensions. */
const ALL = allMigrations(OWNED_DATA);

let made: Project | undefined;
afterAll(() => made?.[Symbol.asyncDispose]());

async function run(url: string, args: readonly string[], env: Record<string, string> = {}, program?: string) {
  made ??= await project(FILES);
  const options = { cwd: made.root, env: { DATABASE_URI: url, ...env } };
  return agentServer(args, program === undefined ? options : { ...options, program });
}

describeEachPlace('agent-server migrate', (place) => {
  test('lists what is pending, applies it once, and then finds nothing', async () => {
    const url = await place();
    const before = await run(url, ['migrate', '--check']);
    expect(before.code).toBe(1);
    expect(before.stdout.split('\n')[0]).toBe(`pending: ${NEWEST} base (stop all servers first)`);
    expect(before.stdout.match(/^pending: /gm)).toHaveLength(ALL.length);

    const done = await run(url, ['migrate']);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout).toContain(`migrating the database: ${NEWEST} `);

    const nothing = { code: 0, stdout: 'The database is up to date.\n', stderr: '' };
    expect(await run(url, ['migrate'])).toEqual(nothing);
    expect(await run(url, ['migrate', '--check'])).toEqual(nothing);
  });

  test('of a release that breaks servers of the one before is left to the command itself', async () => {
    await using release = await nextRelease('alter table threads drop column ttl_minutes;');
    const { program } = release;
    const url = await place();
    expect((await run(url, ['migrate'])).code).toBe(0);
    const pending = await run(url, ['migrate', '--check'], {}, program);
    const effects = pending.stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.includes('stop all servers'));
    expect(effects).toEqual(release.migrations.map((_, index) => index === release.migrations.length - 1));
    for (const args of [
      ['keys', 'list'],
      ['keys', 'create', '--name', 'a'],
    ]) {
      const refused = await run(url, args, {}, program);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringContaining(` ${release.migrations.at(-1)},`),
      ]);
    }
    expect(await run(url, ['migrate', '--check'], {}, program)).toEqual(pending);
    expect((await run(url, ['migrate'], {}, program)).code).toBe(0);
    expect((await run(url, ['keys', 'list'], {}, program)).code).toBe(0);
    // The release before it refuses what it cannot work with.
    expect((await run(url, ['keys', 'list'])).code).toBe(1);
  });

  test('is applied at start only if the configuration allows it', async () => {
    const url = await place();
    const refused = await run(url, ['start'], { AGENT_SERVER_DATABASE_MIGRATIONS: 'refuse' });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toEqual(
      naming(`migrations ${NEWEST}`, 'agent-server migrate', 'storage.migrations'),
    );
  });
});

describe.runIf(TEST_POSTGRES_URI)('servers that wait for their migration', () => {
  test('log what they wait for and start as soon as it is done', async () => {
    await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
    await using db = openPostgres(schema.url);
    const starting = startServer({
      env: { DATABASE_URI: schema.url, AGENT_SERVER_DATABASE_MIGRATIONS: 'wait' },
    });
    await migrate(db, ALL);
    await using server = await starting;
    expect(await (await fetch(`${server.url}/ok?check_db=1`)).json()).toMatchObject({ ok: true });
  });

  test('serve while a newer program migrates, and start again after it', async () => {
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

  test('start together on an empty database', async () => {
    await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
    const start = () => startServer({ env: { DATABASE_URI: schema.url } });
    const servers = await Promise.all([start(), start(), start()]);
    const migrated = servers.flatMap(({ log }) =>
      log.filter(({ message }) => message === 'migrating the database'),
    );
    // Each once; another may go on where the first one lets the lock go.
    const versions = migrated.map(({ version }) => Number(version)).sort((a, b) => a - b);
    expect(versions).toEqual(ALL.map(({ version }) => version).sort((a, b) => a - b));
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
});
