import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_POSTGRES_URI } from '../support/databases.ts';
import { withFaults } from '../support/faults.ts';
import { createThread, getRun, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { type Four, startFour } from './on-postgres.ts';
import { TEN, TEN_STEPS } from './ten-steps.ts';

/** What a busy machine may add to a poll, ms. */
const SLACK_MS = 8000;
/** Of a poll for runs and one of the log; of a step and one of the log. */
const START_MS = 1000 + 500;
const FRAME_MS = 30 + 500;
const RUNS = 5;

/** Processes hear that the others are there, and of nothing that these do. */
describe.runIf(TEST_POSTGRES_URI)('when every notification between processes is lost', () => {
  let four: Four;
  beforeAll(async () => {
    four = await startFour(withFaults('notifications are lost'));
  });
  afterAll(() => four?.[Symbol.asyncDispose]());

  test('a run starts within a second, and its events arrive within half a second', async () => {
    const [{ http }] = four.apis;
    const stream_mode = ['values'];
    for (let count = 0; count < RUNS; count++) {
      const thread_id = await createThread(http);
      let last = performance.now();
      const body = { ...TEN_STEPS, stream_mode };
      const { events } = await http.stream('POST', `/threads/${thread_id}/runs/stream`, { body });
      const seen: number[] = [];
      for await (const { event, data } of events) {
        const waited = performance.now() - last;
        expect(waited).toBeLessThan((event === 'metadata' ? START_MS : FRAME_MS) + SLACK_MS);
        last += waited;
        if (event === 'values') seen.push(JSON.parse(data).n);
      }
      expect(performance.now() - last).toBeLessThan(FRAME_MS + SLACK_MS);
      expect(seen).toEqual([0, ...TEN]);
    }
  }, 90_000);

  test('a cancel from another process arrives within five seconds', async () => {
    const [{ http: one }, { http: two }] = four.apis;
    const config = { configurable: { step_ms: 60_000 } };
    const run = await startRun(one, { ...TEN_STEPS, config });
    await until('it executes', async () => (await getRun(one, run)).status === 'running');
    const began = performance.now();
    // Answered when the run has stopped; its status says so before.
    await two.call('POST', `/threads/${run.thread_id}/runs/${run.run_id}/cancel?wait=1`);
    expect(performance.now() - began).toBeLessThan(5000 + SLACK_MS);
  }, 60_000);
});
