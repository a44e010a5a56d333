import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import { raw } from '../../../src/db/sql.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { type DatabasesByUrl, databasesByUrl, HAS_POSTGRES } from '../../support/databases-by-url.ts';
import { TEST_KEY } from '../../support/encryption.ts';
import { fillEveryTable } from '../../support/every-row.ts';
import { naming } from '../../support/naming.ts';
import { agentServer, program } from '../../support/program.ts';
import { rowsOf } from '../../support/rows-of.ts';
import { startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const CONFIG = join(import.meta.dirname, '../../fixtures/graphs/agent.config.yaml');
const env = { LANGGRAPH_AES_KEY: TEST_KEY };

const copy = (from: string, to: string, ...more: string[]) =>
  agentServer(['copy', '--from', from, '--to', to, '--config', CONFIG, ...more], { env });

describe.runIf(HAS_POSTGRES)('agent-server copy', () => {
  let places: DatabasesByUrl;
  beforeAll(async () => {
    places = await databasesByUrl();
  });
  afterAll(() => places[Symbol.asyncDispose]());

  test.each([
    ['SQLite', 'PostgreSQL'],
    ['PostgreSQL', 'SQLite'],
  ])('moves a server and its unfinished runs from %s to %s', async (from) => {
    const urls = [places.sqlite(), await places.postgres()];
    const [source, target] = (from === 'SQLite' ? urls : urls.toReversed()) as [string, string];
    const { asked, waiting, scheduled, waits } = await begunOn(source);

    const copied = await copy(source, target);
    expect(copied).toMatchObject({ code: 0, stderr: '' });
    expect(copied.stdout).toMatch(/^threads: 3 verified$/m);
    expect(copied.stdout).toMatch(/^copied \d+ rows: .*same.* checksums$/m);

    await using server = await startServer({ env: { ...env, DATABASE_URI: target } });
    const { threads, runs, store } = server.client;
    expect(await threads.get(asked)).toMatchObject({ status: 'interrupted', metadata: { owner: 'ädä' } });
    await expect(runs.wait(asked, 'interrupting', { command: { resume: 'yes' } })).resolves.toMatchObject({
      log: ['a:1', 'b:"yes"'],
    });
    expect(await threads.getHistory(asked)).toHaveLength(4);
    expect(await runs.join(waiting, waits)).toMatchObject({ total: 7 });
    await until('the cron has fired', async () => (await runs.list(scheduled)).length === 1);
    const found = await store.searchItems(['birds'], { query: 'parrot' });
    expect(found.items.map(({ key }) => key)).toEqual(['macaw']);
  });

  /** An interrupted thread, a run that no process has taken, and a cron that is due, on a server that is stopped. */
  async function begunOn(url: string) {
    const serverEnv: Record<string, string> = { ...env, DATABASE_URI: url };
    await using server = await startServer({ env: serverEnv });
    const { threads, runs, crons, store } = server.client;
    const [asked, waiting, scheduled] = await Promise.all(
      [1, 2, 3].map(async () => (await threads.create({ metadata: { owner: 'ädä' } })).thread_id),
    );
    await runs.wait(asked as string, 'interrupting', { input: { x: 1 } });
    await store.putItem(['birds'], 'macaw', { text: 'A parrot' });
    await crons.createForThread(scheduled as string, 'counter', { schedule: '0 0 1 1 *', input: { add: 1 } });
    await server.kill('SIGTERM');
    serverEnv['N_JOBS_PER_WORKER'] = '0';
    await server.restart();
    const { run_id } = await server.client.runs.create(waiting as string, 'counter', { input: { add: 7 } });
    await server.kill('SIGTERM');
    await using db = await openTarget(url, { owned: OWNED_DATA });
    await db.run(raw(`update crons set next_run_date = '2026-01-01T00:00:00.000Z'`));
    return { asked, waiting, scheduled, waits: run_id } as Record<
      'asked' | 'waiting' | 'scheduled' | 'waits',
      string
    >;
  }

  test('killed with SIGKILL, is continued by the next call', async () => {
    const [from, to, empty] = [places.sqlite(), await places.postgres(), await places.postgres()];
    {
      await using engines = new AsyncDisposableStack();
      const sqlite = engines.use(await openTarget(from, { owned: OWNED_DATA }));
      const postgres = engines.use(await openTarget(empty, { owned: OWNED_DATA }));
      await fillEveryTable(sqlite, { sqlite, postgres }, 600);
    }
    const killed = program(['copy', '--from', from, '--to', to, '--config', CONFIG]);
    const ended = once(killed, 'exit');
    let lines = 0;
    for await (const chunk of killed.stdout) {
      lines += String(chunk).split('\n').length;
      if (lines > 12) killed.kill('SIGKILL');
    }
    await ended;
    expect(killed.signalCode).toBe('SIGKILL');
    await expect(startServer({ env: { DATABASE_URI: to } })).rejects.toThrow('unfinished copy');

    const continued = await agentServer(['copy', '--from', from, '--to', to, '--config', CONFIG]);
    expect(continued).toMatchObject({ code: 0, stderr: '' });
    expect(continued.stdout).toMatch(/^continuing after [1-9]\d+ rows$/m);
    expect(await rowsOf(to)).toEqual(await rowsOf(from));
  });

  test('refuses the database of a running server and names the way out', async () => {
    await using server = await startServer({ env });
    const from = `sqlite:${server.database}`;
    expect(await copy(from, await places.postgres())).toMatchObject({
      code: 1,
      stderr: naming(server.database, '--while-running'),
    });
    expect(await copy(from, await places.postgres(), '--while-running')).toMatchObject({ code: 0 });
  });

  test.each([
    [[], 'copy: --from is required: sqlite:FILE or postgres://…'],
    [['--from', 'sqlite:a.db'], 'copy: --to is required: sqlite:FILE or postgres://…'],
    [
      ['--from', 'sqlite:a.db', '--to', 'mysql://me:secret@h/db'],
      'copy: --to must be sqlite:FILE or postgres://…',
    ],
  ])('needs two addresses: %j', async (args, problem) => {
    expect(await agentServer(['copy', ...args])).toEqual({
      code: 2,
      stdout: '',
      stderr: `agent-server: ${problem}\n`,
    });
  });
});
