import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const CHROMIUM = '/usr/bin/chromium';
const REPOSITORY = resolve(import.meta.dirname, '../..');

/** Opens an operation, executes its example as it stands, and resolves to the status and the text of the answer. */
async function tryItOut(page: Page, operationId: string): Promise<[string, string]> {
  const operation = page.locator(`[id$="-${operationId}"]`);
  if ((await operation.locator('.opblock-body').count()) === 0)
    await operation.locator('.opblock-summary').click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table .response').first();
  const status = await answer.locator('.response-col_status').innerText();
  return [
    status.trim().split(/\s/)[0] as string,
    await answer.locator('.response-col_description').innerText(),
  ];
}

describe.runIf(existsSync(CHROMIUM))(
  'the page of the documentation, in a browser (needs Debian package chromium)',
  () => {
    let http: Awaited<ReturnType<typeof openApp>>;
    let browser: Browser;
    let origin: string;

    beforeAll(async () => {
      const environment = { AGENT_SERVER_API_KEYS: 'a-key-for-the-page' };
      http = await openApp({ graphs: ['echo'], folder: REPOSITORY, environment });
      origin = new URL((await http.app.listen()).url).origin;
      browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
    });

    afterAll(async () => {
      await browser?.close();
      await http?.[Symbol.asyncDispose]();
    });

    test('works without internet, keeps the key, and its examples work when they are tried', async () => {
      const page = await browser.newPage();
      const elsewhere: string[] = [];
      const problems: string[] = [];
      page.on('request', (request) => {
        const url = request.url();
        if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) elsewhere.push(url);
      });
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });

      await page.goto(`${origin}/docs`);
      await page.locator('.opblock').first().waitFor();
      expect(await page.locator('.opblock').count()).toBeGreaterThan(30);
      expect([elsewhere, problems]).toEqual([[], []]);

      expect((await tryItOut(page, 'get_info'))[0]).toBe('401');
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.locator('.auth-container input').fill('a-key-for-the-page');
      await page.locator('.auth-btn-wrapper').getByRole('button', { name: 'Apply credentials' }).click();
      await page.locator('.auth-btn-wrapper').getByRole('button', { name: 'Close' }).click();

      await page.reload();
      await page.locator('.opblock').first().waitFor();
      expect(await tryItOut(page, 'get_info')).toEqual(['200', expect.stringContaining('agent-server')]);
      expect((await tryItOut(page, 'create_thread'))[0]).toBe('200');
      expect(await tryItOut(page, 'wait_run')).toEqual(['200', expect.stringContaining('Hello')]);
      expect(await tryItOut(page, 'stream_run')).toEqual(['200', expect.stringContaining('event: metadata')]);
      expect(await tryItOut(page, 'get_thread_state')).toEqual(['200', expect.stringContaining('Hello')]);
      expect(elsewhere).toEqual([]);
    });
  },
);
