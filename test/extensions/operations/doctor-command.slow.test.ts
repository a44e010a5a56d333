import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OWNED_DATA } from '../../../src/app/extensions.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { raw } from '../../../src/db/sql.ts';
import { openTarget } from '../../../src/extensions/operations/copy/databases.ts';
import { examine } from '../../../src/extensions/operations/doctor/doctor.ts';
import { type DatabasesByUrl, databasesByUrl, HAS_POSTGRES } from '../../support/databases-by-url.ts';
import { naming } from '../../support/naming.ts';
import { agentServer } from '../../support/program.ts';
import { startServer } from '../../support/server.ts';

const CONFIG = join(import.meta.dirname, '../../fixtures/graphs/agent.config.yaml');

let places: DatabasesByUrl;
beforeAll(async () => {
  places = await databasesByUrl();
});
afterAll(() => places[Symbol.asyncDispose]());

const doctor = (url: string, ...flags: string[]) =>
  agentServer(['doctor', '--config', CONFIG, ...flags], { env: { DATABASE_URI: url } });

test('doctor reports problems, fixes them on request, and exits with 1 while any are left', async () => {
  const url = places.sqlite();
  {
    await using db = await openTarget(url, { owned: OWNED_DATA });
    await db.run(raw('drop index runs_thread'));
  }
  const message = naming('runs_thread', '--fix');
  const reported = (word: string) =>
    expect.stringMatching(new RegExp(`^${word} +indexes: runs_thread .*\\n$`));
  expect(await doctor(url)).toEqual({ code: 1, stdout: reported('problem'), stderr: '' });
  const json = await doctor(url, '--json');
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toEqual({
    ok: false,
    findings: [{ check: 'indexes', level: 'problem', message, fixable: true }],
    fixed: [],
  });
  expect(await doctor(url, '--fix')).toEqual({ code: 0, stdout: reported('fixed'), stderr: '' });
  expect(await doctor(url)).toEqual({ code: 0, stdout: 'nothing found\n', stderr: '' });
});

test('doctor reports a missing database as a finding', async () => {
  const { code, stdout } = await doctor(places.sqlite());
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^problem {2}database: There is no database /),
  });
});

describe('a healthy, busy server', () => {
  test.each([['SQLite'], ...(HAS_POSTGRES ? [['PostgreSQL']] : [])])(
    'on %s gives the doctor nothing to report',
    async (engine) => {
      const url = engine === 'SQLite' ? places.sqlite() : await places.postgres();
      await using server = await startServer({ env: { DATABASE_URI: url } });
      const { threads, runs, crons, store } = server.client;
      await crons.create('echo', { schedule: '* * * * *' });
      const graphs = ['ten-steps', 'interrupting', 'counter', 'tokens', 'nested', 'fails', 'parallel-send'];
      let busy = true;
      const work = Promise.all(
        Array.from({ length: 21 }, async (_, n) => {
          const graph = graphs[n % graphs.length] as string;
          const { thread_id } = await threads.create();
          const input = { x: n, n, ms: 5, add: n, ask: true };
          const created = [1, 2].map(() =>
            runs.create(thread_id, graph, { input, multitaskStrategy: 'enqueue' }),
          );
          for (const { run_id } of await Promise.all(created))
            await runs.join(thread_id, run_id).catch(() => {});
          if (n % 4 === 0) await threads.delete(thread_id);
          if (n % 5 === 0) {
            const long = await runs
              .create(thread_id, 'sleeper', { input: { ms: 60_000 } })
              .catch(() => undefined);
            if (long)
              await runs
                .cancel(thread_id, long.run_id, true, n % 2 ? 'rollback' : 'interrupt')
                .catch(() => {});
          }
          await store.putItem(['a'], String(n), { n });
        }),
      ).finally(() => {
        busy = false;
      });
      const rules = {
        url,
        max_attempts: 3,
        max_connections: 20,
        log_retention_ms: 60_000,
        give_up_ms: 86_400_000,
        clock: systemClock,
      };
      let looks = 0;
      for (; busy; looks++) expect(await examine(rules, { fix: true })).toEqual({ findings: [], fixed: [] });
      await work;
      expect(looks).toBeGreaterThan(3);
      expect(await doctor(url, '--fix')).toEqual({ code: 0, stdout: 'nothing found\n', stderr: '' });
    },
  );
});
