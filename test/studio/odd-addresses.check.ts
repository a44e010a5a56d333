import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)('invalid addresses of Studio (needs Chromium and a build of Studio)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    [http, browser] = await Promise.all([openApp({ graphs: ['echo'] }), openBrowser()]);
    origin = new URL((await http.app.listen()).url).origin;
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
  });

  test.each([
    ['/runs/abc', 'run'],
    ['/threads/abc', 'thread'],
    ['/chat/echo/abc', 'thread'],
    ['/crons/abc', 'cron'],
    ['/webhooks/abc', 'delivery'],
    ['/assistants/abc', 'assistant'],
    ['/runs/%ff', 'run'],
    ['/threads/100%', 'thread'],
  ])('%s: the page reports that it does not exist', async (path, kind) => {
    const { page, problems } = await openStudio(browser, origin, path);
    await page.getByText(`The id of this ${kind} is not a UUID`).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an unknown path below a screen is no page', async () => {
    const { page, problems } = await openStudio(browser, origin, '/%ff');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test.each(['zzz', '-1', '1e99', 'true'])('runs since %s are not limited in time', async (since) => {
    const { body } = await http.post('/runs/wait', {
      assistant_id: 'echo',
      input: { x: 1 },
      on_completion: 'keep',
    });
    expect(body).toMatchObject({ x: 1 });
    const { page, problems } = await openStudio(browser, origin, `/runs?since=${since}`);
    await page.getByRole('table', { name: 'Runs' }).waitFor();
    expect(await page.getByLabel('Period').inputValue()).toBe('');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test.each(['age=zzz', 'due=1e99', 'due=true'])('the inbox with %s shows all interrupts', async (query) => {
    const { page, problems } = await openStudio(browser, origin, `/inbox?${query}`);
    await page.getByText(/No matching questions|All caught up/).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
