import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { withFaults } from '../support/faults.ts';
import { createThread, getRun, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { type Four, startFour } from './on-postgres.ts';
import { TEN, TEN_STEPS } from './ten-steps.ts';

const RUNS = 5;
/** Longer than this file takes. */
const FOR_EVER_MS = 600_000;

const ENDLESS_STEP = { ...TEN_STEPS, config: { configurable: { step_ms: FOR_EVER_MS } } };

/** Processes hear that the others are there, and of nothing that these do. */
describe.runIf(TEST_POSTGRES_URI)('when every notification between processes is lost', () => {
  let four: Four;
  beforeAll(async () => {
    four = await startFour(withFaults('notifications are lost'));
  });
  afterAll(() => four?.[Symbol.asyncDispose]());

  test('runs start by a poll of the queue, and their events arrive by polls of the log', async () => {
    const [{ http }] = four.apis;
    const stream_mode = ['values'];
    for (let count = 0; count < RUNS; count++) {
      const thread_id = await createThread(http);
      const body = { ...TEN_STEPS, stream_mode };
      const { events } = await http.stream('POST', `/threads/${thread_id}/runs/stream`, { body });
      const seen: number[] = [];
      for await (const { event, data } of events) if (event === 'values') seen.push(JSON.parse(data).n);
      expect(seen).toEqual([0, ...TEN]);
    }
  });

  test('an event arrives while the step after it executes', async () => {
    const [{ http }] = four.apis;
    const run = await startRun(http, { ...ENDLESS_STEP, stream_mode: ['values'] });
    const { events } = await http.stream('GET', `/threads/${run.thread_id}/runs/${run.run_id}/stream`);
    let first: unknown;
    for await (const { event, data } of events) {
      if (event !== 'values') continue;
      first = JSON.parse(data).n;
      break;
    }
    expect(first).toBe(0);
    expect((await getRun(http, run)).status).toBe('running');
    await http.call('POST', `/threads/${run.thread_id}/runs/${run.run_id}/cancel?wait=1`);
  });

  test('a cancel from another process arrives before the interrupted step ends', async () => {
    const [{ http: one }, { http: two }] = four.apis;
    const run = await startRun(one, ENDLESS_STEP);
    await until('it executes', async () => (await getRun(one, run)).status === 'running');
    // Answered when the run has stopped; its status says so before.
    await two.call('POST', `/threads/${run.thread_id}/runs/${run.run_id}/cancel?wait=1`);
    expect((await getRun(one, run)).status).toBe('interrupted');
  });
});
