import { describe, expect, test } from 'vitest';
import type { SystemHistory } from '../../src/schemas/system-history.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const MINUTE = 60_000;
const SAMPLES = 360;

/** What a process measured: `failures` of its last ten samples each, and nothing known of the queue in the fifth of them. */
function hourOf(
  pid: number,
  { since, until, failures = 0 }: { since: number; until: number; failures?: number },
): SystemHistory {
  const step = Math.min(10_000, (until - since) / SAMPLES);
  const at = Array.from({ length: SAMPLES }, (_, n) => until - (SAMPLES - 1 - n) * step);
  const of = (value: (n: number) => number) => at.map((_, n) => value(n));
  const level = (value: number) => of(() => value);
  const recent = (n: number) => Math.max(0, n - (SAMPLES - 11));
  return {
    process: { worker_id: `00000000-0000-4000-8000-${String(pid).padStart(12, '0')}`, host: 'machine', pid },
    since: new Date(since).toISOString(),
    interval_seconds: 10,
    at: at.map((time) => new Date(time).toISOString()),
    runs: {
      pending: of((n) => n).map((n) => (n === SAMPLES - 6 ? null : n)),
      running: level(3),
      executing: level(3),
      ended_total: of((n) => n * 10),
      failed_total: of((n) => recent(n) * failures),
    },
    webhooks: { pending: level(0), dead: level(0) },
    requests_total: of((n) => n * 100),
    event_loop_lag_seconds: { p99: level(0.01), max: level(0.02) },
    memory_bytes: level(200_000_000),
    connections: { open: level(8), idle: level(6), waiting: level(0) },
  };
}

describe.runIf(hasStudio)(
  'the last hour of a process in Studio (needs Chromium and a build of Studio)',
  () => {
    const studio = useStudioServer(['chat']);

    test('an hour is drawn at once, and continues', async () => {
      const now = Date.now();
      let hour = hourOf(7, { since: now - 90 * MINUTE, until: now, failures: 50 });
      const { page, problems } = await openStudio(studio.browser, studio.origin, '/connect');
      await page.route('**/system/history', (route) => route.fulfill({ json: hour }));
      await page.goto(`${studio.origin}/studio/system`);
      await page.getByText('The last hour of process 7 on machine').waitFor();
      const runs = page.getByRole('img', { name: 'Runs: now running 3, waiting 359; at most 359' });
      await runs.waitFor();
      // A line to every sample but the one that is not known.
      const waiting = await runs.locator('path').nth(2).getAttribute('d');
      expect(waiting?.match(/[ML]/g)).toHaveLength(SAMPLES - 1);
      expect(waiting?.match(/M/g)).toHaveLength(1);
      await page
        .getByRole('img', { name: 'Ended runs: now ended 1.0/s, failed 5.0/s; at most 5.0/s' })
        .waitFor();
      await page.getByRole('img', { name: /^Requests: now answered 10\/s/ }).waitFor();
      await page.getByRole('img', { name: /^Connections to PostgreSQL: now open 8/ }).waitFor();
      expect(await violations(page)).toEqual([]);

      hour = { ...hour, runs: { ...hour.runs, running: hour.at.map(() => 4) } };
      await page.getByRole('img', { name: /^Runs: now running 4/ }).waitFor();
      await page.context().close();
      expect(problems).toEqual([]);
    });

    test('of several processes that respond in turn one is shown, until it is replaced', async () => {
      const now = Date.now();
      const first = hourOf(7, { since: now - 90 * MINUTE, until: now });
      const other = hourOf(8, { since: now - 80 * MINUTE, until: now });
      const replacing = hourOf(9, { since: now + 1, until: now + MINUTE });
      let answers = [first];
      let asked = 0;
      const { page, problems } = await openStudio(studio.browser, studio.origin, '/connect');
      await page.route('**/system/history', (route) => {
        const answer = answers[asked % answers.length] as SystemHistory;
        asked += 1;
        return route.fulfill({ json: answer });
      });
      await page.goto(`${studio.origin}/studio/system`);
      await page.getByText('The last hour of process 7').waitFor();
      answers = [other];
      const before = asked;
      await expect.poll(() => asked).toBeGreaterThan(before + 1);
      await page.getByText('The last hour of process 7').waitFor();
      answers = [replacing];
      await page.getByText('The last hour of process 9').waitFor();
      await page.context().close();
      expect(problems).toEqual([]);
    });
  },
);
