import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser, type PageServer, servePage } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';

const ORDER = 'Email ana@example.com about lunch saying See you at noon.';

describe.runIf(hasBrowser).each(['runs', 'events'])(
  'the example assistant in a browser, over the streams of %s (needs Debian package chromium)',
  (kind) => {
    let server: TestServer;
    let pages: PageServer;
    let browser: Browser;
    let outbox: string;

    beforeAll(async () => {
      outbox = await mkdtemp(join(tmpdir(), 'outbox-'));
      [server, pages, browser] = await Promise.all([
        startServer({
          graphs: { assistant: 'examples/assistant/graph.ts:graph' },
          env: { OUTBOX: outbox, OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
        }),
        servePage('review-page.tsx'),
        openBrowser(),
      ]);
    });

    afterAll(async () => {
      await browser?.close();
      await pages?.[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
      await rm(outbox, { recursive: true, force: true });
    });

    async function send(page: Page, draft: string, button = 'Send') {
      await page.getByLabel('draft').fill(draft);
      await page.getByRole('button', { name: button }).click();
    }

    /** A conversation that has come to the question about the e-mail. */
    async function asked() {
      const page = await pages.open(browser, { server: server.url, assistant: 'assistant', kind });
      await send(page, ORDER);
      await page.getByText('May I call send_email').waitFor();
      return page;
    }

    const says = (page: Page, hasText: string) => page.locator('#messages li', { hasText }).last().waitFor();
    const texts = (page: Page) => page.locator('#messages li').allTextContents();

    test('the assistant searches its notes and answers', async () => {
      const page = await pages.open(browser, { server: server.url, assistant: 'assistant', kind });
      await send(page, 'When is the shop open on Saturday?');
      await says(page, 'opening-hours.md says under');
      await page.getByText('idle', { exact: true }).waitFor();

      expect(await texts(page)).toHaveLength(4);
      expect(await page.getByRole('alert').textContent()).toBe('');
    });

    test('an e-mail that is approved is sent, with the arguments that were edited', async () => {
      const first = await asked();
      await first.getByRole('button', { name: 'approve' }).click();
      await says(first, 'The e-mail to ana@example.com is in the outbox');

      const second = await asked();
      await send(second, '{"to":"bob@example.com"}', 'edit');
      await says(second, 'The e-mail to bob@example.com is in the outbox');

      const mails = await Promise.all(
        (await readdir(outbox)).map((file) => readFile(join(outbox, file), 'utf8')),
      );
      expect(mails.map((mail) => mail.split('\n')[0]).sort()).toEqual([
        'To: ana@example.com',
        'To: bob@example.com',
      ]);
    });

    test('an e-mail that is rejected is not sent, and the assistant learns the reason', async () => {
      const before = await readdir(outbox);
      const page = await asked();
      await send(page, 'Lunch is off.', 'reject');
      await says(page, 'Lunch is off.');
      await page.getByText('idle', { exact: true }).waitFor();

      expect(await page.getByRole('button').allTextContents()).toEqual(['Send']);
      expect(await readdir(outbox)).toEqual(before);
    });
  },
);
