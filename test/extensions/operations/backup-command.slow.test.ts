import { once } from 'node:events';
import { watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import { sqlitePath } from '../../../src/db/engines/sqlite-files.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { type DatabasesByUrl, databasesByUrl, HAS_POSTGRES } from '../../support/databases-by-url.ts';
import { TEST_KEY } from '../../support/encryption.ts';
import { fillEveryTable } from '../../support/every-row.ts';
import { naming } from '../../support/naming.ts';
import { agentServer, program } from '../../support/program.ts';
import { rowsOf } from '../../support/rows-of.ts';
import { startServer } from '../../support/server.ts';

const CONFIG = join(import.meta.dirname, '../../fixtures/graphs/agent.config.yaml');

let places: DatabasesByUrl;
beforeAll(async () => {
  places = await databasesByUrl();
});
afterAll(() => places[Symbol.asyncDispose]());

function run(command: string, url: string, args: readonly string[], env: Record<string, string> = {}) {
  return agentServer([command, ...args, '--config', CONFIG], { env: { DATABASE_URI: url, ...env } });
}

test('a running server is backed up, and another one continues from the backup', async () => {
  await using server = await startServer({
    graphs: { interrupting: 'test/fixtures/graphs/interrupting.ts:graph' },
  });
  const { thread_id } = await server.client.threads.create();
  await server.client.runs.wait(thread_id, 'interrupting', { input: { x: 1 } });
  const file = join(places.folder, 'running.db');
  const url = `sqlite:${server.database}`;

  const written = await run('backup', url, [file]);
  expect(written).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^wrote .*running\.db \(\d+ bytes\), verified\n$/),
    stderr: naming('plain text'),
  });
  expect(await run('backup', url, [file])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--force'),
  });
  expect(await run('restore', url, [file, '--force'])).toMatchObject({
    code: 1,
    stderr: naming('Another server', server.database),
  });

  await server.client.threads.delete(thread_id);
  await server.kill('SIGTERM');
  expect(await run('restore', url, [file])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not empty'),
  });
  expect(await run('restore', url, [file, '--force'])).toMatchObject({ code: 0, stderr: '' });
  await server.restart();
  const resumed = server.client.runs.wait(thread_id, 'interrupting', { command: { resume: 1 } });
  await expect(resumed).resolves.toMatchObject({ log: ['a:1', 'b:1'] });
});

test('a backup of an encrypted database reports that the key is not part of it', async () => {
  const env = { LANGGRAPH_AES_KEY: TEST_KEY };
  await using server = await startServer({ env });
  const file = join(places.folder, 'encrypted.db');
  const { stderr } = await run('backup', `sqlite:${server.database}`, [file], env);
  expect(stderr).toEqual(naming('key is not'));
});

describe.runIf(HAS_POSTGRES)('a restore that is killed with SIGKILL', () => {
  // Every table has rows, so that the backup names deployments.
  const ALONE = ['--force', '--database-only'];
  let empty: string;
  beforeAll(async () => {
    empty = await places.postgres();
  });

  async function filled(url: string, rows: number): Promise<string> {
    await using engines = new AsyncDisposableStack();
    const postgres = engines.use(await openTarget(empty, { owned: OWNED_DATA }));
    await using target = await openTarget(url, { owned: OWNED_DATA });
    const sqlite =
      target.dialect === 'sqlite'
        ? target
        : engines.use(await openTarget(places.sqlite(), { owned: OWNED_DATA }));
    await fillEveryTable(target, { sqlite, postgres }, rows);
    return url;
  }

  test.each([1, 3, 6])(
    'leaves the old or the new SQLite database: at the change %i of its folder',
    async (at) => {
      const url = await filled(places.sqlite(), 30);
      const path = sqlitePath(url) as string;
      const backup = sqlitePath(await filled(places.sqlite(), 200)) as string;
      const [before, after] = [await rowsOf(url), await rowsOf(`sqlite:${backup}`)];

      const restoring = program(['restore', backup, ...ALONE, '--config', CONFIG], {
        env: { DATABASE_URI: url },
      });
      let changes = 0;
      using watcher = Object.assign(watch(dirname(path)), { [Symbol.dispose]: () => watcher.close() });
      watcher.on('change', (_, name) => {
        if (String(name).startsWith(basename(path)) && ++changes === at) restoring.kill('SIGKILL');
      });
      await once(restoring, 'exit');

      const left = await rowsOf(url);
      expect([before, after]).toContainEqual(left);
      expect(await run('restore', url, [backup, ...ALONE])).toMatchObject({ code: 0 });
      expect(await rowsOf(url)).toEqual(after);
    },
  );

  test('leaves the old PostgreSQL database', async () => {
    const url = await filled(await places.postgres(), 3);
    const backup = sqlitePath(await filled(places.sqlite(), 600)) as string;
    const before = await rowsOf(url);
    const restoring = program(['restore', backup, ...ALONE, '--config', CONFIG], {
      env: { DATABASE_URI: url },
    });
    const ended = once(restoring, 'exit');
    for await (const _ of restoring.stdout) restoring.kill('SIGKILL');
    await ended;
    expect(restoring.signalCode).toBe('SIGKILL');
    expect(await rowsOf(url)).toEqual(before);
  });
});
