import { describe, expect, test } from 'vitest';
import { settableClock } from '../support/crons.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

const HOUR = 3_600_000;
/** Half past the hour before now: later hours are reached by setting the clock. */
const START = Math.floor(Date.now() / HOUR) * HOUR - HOUR / 2;
const later = (ms: number) => new Date(START + ms).toISOString();

describe.runIf(hasStudio)('outcomes of crons in Studio (needs Chromium and a build of Studio)', () => {
  const clock = settableClock(later(0));
  const studio = useStudioServer(['sleeper'], { clock });

  test('the history shows why a time had no run: its thread was busy, or the cron had ended', async () => {
    const { http } = studio;
    const hourly = { assistant_id: 'sleeper', schedule: '0 * * * *', input: { ms: 600_000 } };
    const create = async (path: string, fields: object): Promise<string> =>
      (await http.post(`${path}/runs/crons`, { ...hourly, ...fields })).body.cron_id;
    const thread_id = await http.thread();
    const run = await http.post(`/threads/${thread_id}/runs`, hourly);
    const rejected = await create(`/threads/${thread_id}`, { multitask_strategy: 'reject' });
    const skipped = await create('', { end_time: later(HOUR) });
    clock.set(later(2 * HOUR));
    // A new cron has the others looked at.
    await create('', { schedule: '0 0 1 1 *' });
    const outcomes = async (cron_id: string) =>
      (await http.get(`/runs/crons/${cron_id}/runs`)).body.map(({ outcome }: { outcome: string }) => outcome);
    await until('both have had their time', async () => {
      return (await outcomes(rejected)).length > 0 && (await outcomes(skipped)).length > 0;
    });
    expect([await outcomes(rejected), await outcomes(skipped)]).toEqual([['rejected'], ['skipped']]);

    const { page } = await openStudio(studio.browser, studio.origin, `/crons/${rejected}`);
    const history = page.getByRole('table', { name: 'History' });
    const line = (outcome: string) =>
      history.getByRole('row').filter({ has: page.getByText(outcome, { exact: true }) });
    await line('rejected').getByText(`Blocked by run ${run.body.run_id}.`).waitFor();
    expect(await line('rejected').getByRole('link').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.goto(`${studio.origin}/studio/crons/${skipped}`);
    await line('skipped').getByText('and the cron has since ended').waitFor();
    expect(await history.getByText('triggered manually').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.context().close();
    await http.post(`/threads/${thread_id}/runs/${run.body.run_id}/cancel?wait=true`, {});
  });
});
