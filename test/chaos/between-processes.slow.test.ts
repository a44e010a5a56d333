import { describe, expect, test } from 'vitest';
import { sql } from '../../src/db/sql.ts';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { getRun, joinRun, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { startFour, startPair } from './on-postgres.ts';
import type { ChaosServer } from './server.ts';
import { TEN, TEN_STEPS } from './ten-steps.ts';

const NOTIFICATIONS = ['notify', 'poll', 'off'];

describe.runIf(TEST_POSTGRES_URI)('processes with roles on one PostgreSQL', () => {
  test.each(NOTIFICATIONS)(
    'runs created in one process are followed, cancelled and joined through another (%s)',
    async (mode) => {
      await using four = await startFour({ AGENT_SERVER_NOTIFICATIONS: mode });
      const [{ http: one }, { http: two }] = four.apis;
      const runs = await Promise.all(Array.from({ length: 8 }, () => startRun(one, TEN_STEPS)));
      for (const run of runs) expect(await joinRun(two, run)).toEqual({ n: 10, executed: TEN });

      const run = await startRun(one, { assistant_id: 'ten-steps', input: { n: 0 }, stream_mode: 'values' });
      const { events } = await two.stream('GET', `/threads/${run.thread_id}/runs/${run.run_id}/stream`);
      const seen: number[] = [];
      for await (const { event, data } of events) if (event === 'values') seen.push(JSON.parse(data).n);
      expect(seen).toEqual([0, ...TEN]);

      const config = { configurable: { step_ms: 60_000 } };
      const endless = await startRun(one, { assistant_id: 'ten-steps', input: { n: 0 }, config });
      await until('it executes', async () => (await getRun(one, endless)).status === 'running');
      await two.call('POST', `/threads/${endless.thread_id}/runs/${endless.run_id}/cancel?wait=1`);
      expect((await getRun(one, endless)).status).toBe('interrupted');
    },
  );

  test('idle workers share new runs, and an API process executes none', async () => {
    await using four = await startFour({ N_JOBS_PER_WORKER: '2' });
    const config = { configurable: { step_ms: 1_000 } };
    const [{ http }] = four.apis;
    const body = { ...TEN_STEPS, config };
    const runs = await Promise.all(Array.from({ length: 4 }, () => startRun(http, body)));
    const active = async (server: ChaosServer) =>
      (await server.http.call<{ workers: { active: number } }>('GET', '/metrics?format=json')).workers.active;
    await until('each worker has two of them', async () => {
      const counts = await Promise.all([...four.workers, ...four.apis].map(active));
      return counts.join() === '2,2,0,0';
    });
    for (const run of runs) expect(await joinRun(http, run)).toMatchObject({ executed: TEN });
  });

  test('a cancel request is answered although its server stops in the meantime', async () => {
    await using pair = await startPair({ AGENT_SERVER_ROLE: 'api' }, { AGENT_SERVER_ROLE: 'worker' });
    const { http, process } = pair.one;
    const run = await startRun(http, { assistant_id: 'blocks', input: { ms: 5_000 } });
    await until('it executes', async () => (await getRun(http, run)).status === 'running');
    const path = `/threads/${run.thread_id}/runs/${run.run_id}/cancel?wait=1`;
    const answer = http.send('POST', path);
    const isCancelled = sql`select 1 from run_queue where run_id = ${run.run_id} and cancel_action is not null`;
    await until('it is cancelled', async () => (await pair.db.get(isCancelled)) !== undefined);
    expect(await process.kill('SIGTERM')).toBe(0);
    expect(await answer).toMatchObject({ status: 200, body: {} });
  });
});
