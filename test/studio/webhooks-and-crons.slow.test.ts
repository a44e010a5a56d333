import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { type Receiver, receiver, TO_RECEIVER } from '../support/receiver.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

/** Of who starts a run. */
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe.runIf(hasStudio)('webhooks and crons in Studio (needs Chromium and a build of Studio)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let hook: Receiver;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    [http, hook, browser] = await Promise.all([
      openApp({ graphs: ['echo', 'fails'], environment: TO_RECEIVER }),
      receiver(),
      openBrowser(),
    ]);
    origin = new URL((await http.app.listen()).url).origin;
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
    await hook?.[Symbol.asyncDispose]();
  });

  test('a test webhook is sent, shown with its response, and sent again, by keyboard', async () => {
    const { page, problems } = await openStudio(browser, origin, '/webhooks');
    hook.answers.push((_request, response) =>
      response.writeHead(410, { 'x-shop': 'opens-at-8' }).end('the shop is closed'),
    );
    await page.getByRole('button', { name: 'Send a test' }).press('Enter');
    await page.locator('input:focus').waitFor();
    await page.keyboard.type(`${hook.url}/hook`);
    await page.keyboard.press('Enter');
    await page.getByText('the shop is closed').waitFor();
    expect(await violations(page)).toEqual([]);

    await page.getByRole('link', { name: 'Open delivery' }).press('Enter');
    await page.getByText(/^Given up/).waitFor();
    await page.getByText('Response headers').press('Enter');
    await page.getByText('opens-at-8').waitFor();
    await page.getByRole('figure', { name: 'Body' }).getByText('"langsmith_session_name": null').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Redeliver' }).press('Enter');
    await page.getByText('Try 2').waitFor();
    await page.getByText('delivered', { exact: true }).waitFor();
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('the body of a delivery is shown without secrets, and marked as truncated only if it is', async () => {
    const url = `${hook.url}/hook?token=not-for-everybody-who-may-look`;
    const { delivery_id } = (await http.post('/webhooks/test', { url })).body;
    const { page, problems } = await openStudio(browser, origin, `/webhooks/${delivery_id}`);
    const body = page.getByRole('figure', { name: 'Body' });
    await body.getByText('?token=***').waitFor();
    expect(await page.getByText(/^The first/).count()).toBe(0);

    const { thread_id } = (await http.post('/threads', {})).body;
    const run = { assistant_id: 'echo', input: { x: 'x'.repeat(70_000) }, webhook: hook.url };
    const { run_id } = (await http.post(`/threads/${thread_id}/runs`, run)).body;
    await page.goto(`${origin}/studio/webhooks?run=${run_id}`);
    await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').first().click();
    await page.getByText(/^The first 65,536 of \d+,\d+ characters\.$/).waitFor();
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('dead deliveries to an address are redelivered together', async () => {
    const url = `${hook.url}/dead`;
    hook.answers.push(410, 410, 410);
    await http.post('/webhooks/test', { url });
    await http.post('/webhooks/test', { url });
    await http.post('/webhooks/test', { url: `${hook.url}/other` });
    const { page, problems } = await openStudio(browser, origin, `/webhooks?url=${encodeURIComponent(url)}`);
    const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row');
    await rows.nth(2).waitFor();
    expect(await rows.count()).toBe(3);

    await page.getByRole('button', { name: 'Redeliver dead' }).click();
    await page.getByText(/^2 dead deliveries that match the filters/).waitFor();
    await page.getByRole('button', { name: 'Redeliver 2' }).click();
    await page.getByText('2 of 2 queued for delivery.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('delivered', { exact: true }).nth(1).waitFor();
    const dead = (await http.get('/webhooks/deliveries?status=dead')).body as { url: string }[];
    expect(dead.map((delivery) => delivery.url)).toEqual([`${hook.url}/other`]);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('dead deliveries of a run are redelivered, and a delivery names its headers', async () => {
    const url = `${hook.url}/of-a-run`;
    hook.answers.push(410, 410);
    const run = { assistant_id: 'echo', input: { x: 1 }, webhook: url };
    const start = async () => (await http.post('/runs', run, { traceparent: TRACE })).body.run_id as string;
    const [wanted, other] = [await start(), await start()];
    const deadOf = async (run_id: string) =>
      (await http.get(`/webhooks/deliveries?status=dead&run_id=${run_id}`)).body as object[];
    await until(
      'both are dead',
      async () => (await deadOf(wanted)).length + (await deadOf(other)).length === 2,
    );

    const { page, problems } = await openStudio(browser, origin, `/webhooks?run=${wanted}`);
    const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row');
    await rows.nth(1).waitFor();
    expect(await rows.count()).toBe(2);
    await page.getByRole('button', { name: 'Redeliver dead' }).click();
    await page.getByRole('button', { name: 'Redeliver 1' }).click();
    await page.getByText('1 of 1 queued for delivery.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('delivered', { exact: true }).waitFor();
    expect([await deadOf(wanted), await deadOf(other)]).toMatchObject([[], [{ url }]]);
    await page.goto(`${origin}/studio/webhooks?run=${other}`);
    await rows.nth(1).getByRole('link').first().press('Enter');
    await page.getByText('Headers: traceparent').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the history of a cron shows which of its runs failed', async () => {
    const cron = { assistant_id: 'fails', schedule: '0 8 1 1 *', input: { x: 7 } };
    const failing = (await http.post('/runs/crons', cron)).body.cron_id;
    const { page, problems } = await openStudio(browser, origin, `/crons/${failing}`);
    const history = page.getByRole('table', { name: 'History' });
    await page.getByRole('button', { name: 'Run now' }).press('Enter');
    await history.getByText('error', { exact: true }).waitFor();
    await history.getByText('triggered manually').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
    await http.send('DELETE', `/runs/crons/${failing}`);
  });

  test('a cron shows its next times while it is edited, and can be triggered, paused and deleted', async () => {
    const { page, problems } = await openStudio(browser, origin, '/crons');
    await page.getByText('No crons yet').waitFor();
    await page.getByRole('button', { name: 'New cron' }).press('Enter');
    await page.getByRole('dialog').getByLabel('Assistant').selectOption('echo');
    await page.getByLabel('Schedule').fill('0 25 * * *');
    await page.getByText(/Invalid cron schedule/).waitFor();
    await page.getByLabel('Schedule').fill('30 7 * * *');
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await page
      .getByText(/07:30$/)
      .first()
      .waitFor();
    const times = page.getByRole('dialog').getByRole('table').getByRole('row');
    expect(await times.count()).toBe(6);
    const zone = await page.evaluate<string>('Intl.DateTimeFormat().resolvedOptions().timeZone');
    const heading = await times.first().innerText();
    expect(heading).toContain('Asia/Tokyo');
    expect(heading).toContain(`Here (${zone})`);
    for (const row of (await times.all()).slice(1)) {
      const [there = '', here] = await row.getByRole('cell').allInnerTexts();
      expect(there).toMatch(/07:30$/);
      expect(here).toMatch(/\d\d:\d\d$/);
      expect(here).not.toBe(there);
    }
    await page.getByLabel('Input').fill('{"messages": "good morning"}');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).press('Enter');

    await page.getByText('Not fired yet', { exact: true }).waitFor();
    const [cron] = (await http.post('/runs/crons/search', {})).body;
    expect(cron).toMatchObject({ schedule: '30 7 * * *', timezone: 'Asia/Tokyo' });
    await page.getByRole('button', { name: 'Edit' }).press('Enter');
    // Another client changes it meanwhile.
    await http.send('PATCH', `/runs/crons/${cron.cron_id}`, { timezone: 'Asia/Seoul' });
    await page.getByText('Asia/Seoul').first().waitFor();
    await page.getByLabel('Schedule').fill('45 7 * * *');
    await page.getByLabel('Ends').fill('2199-05-01T10:00');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('heading', { name: '45 7 * * *' }).waitFor();
    const changed = (await http.get(`/runs/crons/${cron.cron_id}`)).body;
    expect(changed).toMatchObject({ schedule: '45 7 * * *', timezone: 'Asia/Seoul' });
    expect(new Date(changed.end_time)).toEqual(new Date('2199-05-01T10:00'));

    await page.getByRole('button', { name: 'Run now' }).press('Enter');
    await page.getByText('success', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).press('Enter');
    await page.getByText('paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).press('Enter');
    await page.getByText('paused', { exact: true }).waitFor({ state: 'detached' });
    expect((await http.get(`/runs/crons/${cron.cron_id}`)).body.enabled).toBe(true);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByText('No crons yet').waitFor();
    await page.context().close();
    expect(problems).toEqual([]);
  });
});
