import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)('the overview of Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['fails', 'interrupting']);

  /** The id of a run that has ended. */
  async function ended(graph: string): Promise<string> {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, graph, { input: { x: 7 } });
    await studio.client.runs.join(thread_id, run_id).catch(() => {});
    return run_id;
  }

  test('a server without runs shows the first steps, with a command for its address that works', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    const steps = page.locator('section', { has: page.getByRole('heading', { name: 'First steps' }) });
    const command = (await steps.locator('pre').innerText()).replace('\\\n', '');
    expect(command).toContain(`${studio.origin}/runs/wait`);
    const [, body = ''] = /-d '(.+)'$/.exec(command) ?? [];
    expect(await violations(page)).toEqual([]);
    await steps.getByRole('link', { name: /^Chat with/ }).click();
    await page.waitForURL('**/chat/*');
    const answer = await fetch(`${studio.origin}/runs/wait`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(answer.status).toBe(200);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('runs and failures of the last day are drawn by hour, and the last runs and open questions are listed', async () => {
    for (const graph of ['fails', 'interrupting']) await ended(graph);
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    const main = page.getByRole('main');
    const chart = (name: RegExp) => main.getByRole('img', { name });
    await chart(/^Runs: \d+ ended in 24 hours$/).waitFor();
    await chart(/^Failures: 1 of them, \d/).waitFor();
    await chart(/^Latency: [\d.]+ m?s /).waitFor();
    await chart(/^Tokens: 0 today/).waitFor();
    expect(await chart(/^Runs/).locator('rect').count()).toBe(24);
    // In one row the bars stand on one line, however long the notes above them are.
    await page.setViewportSize({ width: 1280, height: 800 });
    const boxes = [/^Runs/, /^Failures/, /^Latency/, /^Tokens/].map((name) => chart(name).boundingBox());
    expect(new Set((await Promise.all(boxes)).map((box) => box?.y)).size).toBe(1);
    const questions = main.locator('section', {
      has: page.getByRole('heading', { name: 'Open questions' }),
    });
    await questions.getByRole('link', { name: /^ok\?/ }).waitFor();
    await main.getByRole('row', { name: /^interrupting .*waiting/ }).waitFor();
    expect(await violations(page)).toEqual([]);
    await main
      .getByRole('row', { name: /^fails/ })
      .getByText('error', { exact: true })
      .click();
    await page.getByRole('heading', { name: 'BoomError' }).first().waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an age is correct at once, even if none was shown for a long time', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/connect');
    await page.getByRole('heading', { name: 'Connect' }).waitFor();
    await page.clock.setFixedTime(Date.now() + 3_600_000);
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('started').first().waitFor();
    expect(await page.getByRole('time').allInnerTexts()).toContain('1 h ago');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('each number links to what it counts', async () => {
    await studio.client.threads
      .search({ limit: 100 })
      .then((threads) =>
        Promise.all(threads.map(({ thread_id }) => studio.client.threads.delete(thread_id))),
      );
    for (const graph of ['fails', 'interrupting', 'fails']) await ended(graph);
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    const main = page.getByRole('main');
    const follow = (name: string) => main.getByRole('link', { name, exact: true }).click();
    const figure = (name: string) => main.locator('section', { has: page.getByRole('heading', { name }) });

    for (const name of ['Failed in the last hour', '2 in 24 hours']) {
      await figure('Failed in the last hour').getByText('2', { exact: true }).waitFor();
      const asked = page.waitForRequest('**/runs/search');
      await follow(name);
      expect((await asked).postDataJSON()).toMatchObject({
        status: ['error', 'timeout'],
        ended_from: expect.any(String),
      });
      const failures = page.getByRole('row').getByText('BoomError: boom 7');
      await failures.first().waitFor();
      expect(await failures.count()).toBe(2);
      expect(await page.getByRole('link', { name: /^interrupting/ }).count()).toBe(0);
      await page.goBack();
    }
    await figure('Waiting for a person').getByText('1', { exact: true }).waitFor();
    await follow('Waiting for a person');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.getByText('ok?').first().waitFor();
    await page.goBack();
    await follow('Running');
    await page.getByText('No matching runs').waitFor();
    await page.goBack();
    await follow('0 queued');
    await page.getByText('No matching runs').waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('pending');
    await page.goBack();
    await follow('Dead webhooks');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('dead');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the links to screens show how many items need attention', async () => {
    for (const graph of ['fails', 'interrupting']) await ended(graph);
    const { page } = await openStudio(studio.browser, studio.origin, '/connect');
    const screens = page.getByRole('navigation', { name: 'Screens' });
    const failed = screens.getByRole('img', { name: /^\d+ failed in the last hour$/ });
    await screens.getByRole('img', { name: /^\d+ waiting for a person$/ }).waitFor();
    const before = Number(await failed.innerText());
    expect(await screens.getByRole('img').count()).toBe(2);
    await ended('fails');
    await expect.poll(() => failed.innerText()).toBe(String(before + 1));
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  test('the longest waiting run, large numbers and warnings are shown as reported by the server', async () => {
    const run_id = await ended('interrupting');
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/runs');
    const { at, ...overview } = (await studio.http.get('/system/overview')).body;
    const before = (ms: number) => new Date(Date.parse(at) - ms).toISOString();
    const runs = {
      ...overview.runs,
      pending: 7,
      oldest_waiting: { run_id, thread_id: run_id, since: before(3 * 60_000) },
      ended: { ...overview.runs.ended, error: 9000, failed_last_hour: 8000, since: before(30 * 60_000) },
    };
    const warnings = [
      { check: 'runs', level: 'problem', message: 'A run waits for over a minute.' },
      { check: 'keys', level: 'notice', message: 'A key expires.' },
    ];
    const interrupts = { waiting: 500, more: true };
    await page.route('**/system/overview', (route) =>
      route.fulfill({ json: { ...overview, at, runs, interrupts, warnings } }),
    );
    await page.goto(`${studio.origin}/studio`);
    for (const text of ['A run waits for over a minute.', 'A key expires.', '500+', /due \d+ min ago/])
      await page.getByRole('main').getByText(text).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('link', { name: 'the oldest' }).click();
    await page.waitForURL(`**/runs/${run_id}`);
    await page.goBack();

    // Only the newest were counted.
    const asked = page.waitForRequest((request) => request.postDataJSON()?.ended_from !== undefined);
    await page.getByRole('link', { name: 'Failed in the last hour' }).click();
    expect((await asked).postDataJSON()).toMatchObject({
      status: ['error', 'timeout'],
      ended_from: runs.ended.since,
    });
    expect(await page.getByLabel('Period').inputValue()).toBe(`ended=${runs.ended.since}`);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the overview shows the server, the uptime of its processes, the size of its storage and the queue', async () => {
    for (let n = 0; n < 3; n++)
      await studio.client.runs.create(null, 'fails', { input: { x: 7 }, afterSeconds: 3600 });
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    const main = page.getByRole('main');
    await main.getByText('3 queued').waitFor();
    const { body } = await studio.http.get('/system/overview');
    const fact = (name: string) => main.locator(`dt:text-is("${name}") + dd`).innerText();
    expect(await fact('Version')).toBe(body.versions.server);
    expect(await fact('Node')).toBe(process.versions.node);
    expect(await fact('Storage')).toMatch(/^(SQLite|PostgreSQL), [\d.]+ [kM]B$/);
    await main
      .getByText(/^started (now|\d+ (s|min|h) ago)$/)
      .first()
      .waitFor();
    await main.getByText(`process ${body.processes[0].pid}`).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
