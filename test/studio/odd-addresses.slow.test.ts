import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)(
  'addresses of Studio that nobody made (needs Chromium and a build of Studio)',
  () => {
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
    ])('%s: the page says that it does not exist', async (path, kind) => {
      const { page, problems } = await openStudio(browser, origin, path);
      await page.getByText(`The id of this ${kind} is not a UUID`).waitFor();
      expect(await violations(page)).toEqual([]);
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test('below no screen there is no such page', async () => {
      const { page, problems } = await openStudio(browser, origin, '/%ff');
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test.each(['zzz', '-1', '1e99', 'true'])('runs since %s are those of any time', async (since) => {
      const { body } = await http.post('/runs/wait', {
        assistant_id: 'echo',
        input: { x: 1 },
        on_completion: 'keep',
      });
      expect(body).toMatchObject({ x: 1 });
      const { page, problems } = await openStudio(browser, origin, `/runs?since=${since}`);
      await page.getByRole('table', { name: 'Runs' }).waitFor();
      expect(await page.getByLabel('Created').inputValue()).toBe('');
      expect(problems).toEqual([]);
      await page.context().close();
    });

    test.each(['age=zzz', 'due=1e99', 'due=true'])('the inbox with %s shows what waits', async (query) => {
      const { page, problems } = await openStudio(browser, origin, `/inbox?${query}`);
      await page.getByText(/No matching questions|All caught up/).waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    });
  },
);
