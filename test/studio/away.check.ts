import { Client } from '@langchain/langgraph-sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';

const GRAPHS = { tokens: 'test/fixtures/graphs/tokens.ts:graph' };

describe.runIf(hasStudio)(
  'Studio while the server is away or the page is hidden (needs Chromium and a build)',
  () => {
    let server: TestServer;
    let browser: Browser;

    beforeAll(async () => {
      [server, browser] = await Promise.all([startServer({ graphs: GRAPHS }), openBrowser()]);
    });

    afterAll(async () => {
      await browser?.close();
      await server?.[Symbol.asyncDispose]();
    });

    /** What a page notices of its tab. */
    const turn = (page: Page, state: 'hidden' | 'visible') =>
      page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { get: () => '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    `);

    test('data stays visible while the server is away, and updates by itself afterwards', async () => {
      await server.client.threads.create({ metadata: { title: 'Before' } });
      const { page } = await openStudio(browser, server.url, '/threads');
      await page.getByRole('link', { name: /^Before/ }).waitFor();
      await server.kill();
      await page.getByRole('alert').filter({ hasText: 'The server is not responding' }).waitFor();
      await turn(page, 'visible');
      await page.getByRole('link', { name: /^Before/ }).waitFor();

      await server.restart();
      await server.client.threads.create({ metadata: { title: 'After' } });
      await page.getByRole('link', { name: /^After/ }).waitFor();
      await expect.poll(() => page.getByRole('alert').count()).toBe(0);
      await page.context().close();
    });

    test('a hidden page sends no requests, and shows everything once when it is visible again', async () => {
      const client = new Client({ apiUrl: server.url });
      const { thread_id } = await client.threads.create();
      const { run_id } = await client.runs.create(thread_id, 'tokens', {
        input: { count: 150, token_ms: 20 },
        streamMode: ['values', 'messages-tuple'],
        streamResumable: true,
      });
      const { page, problems } = await openStudio(browser, server.url, '');
      await page.clock.install();
      await page.goto(`${server.url}/studio/chat/tokens/${thread_id}`);
      await page.getByRole('log').getByText('t0 t1').waitFor();

      await turn(page, 'hidden');
      await page.clock.fastForward(30_000);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await client.runs.join(thread_id, run_id);
      await client.threads.update(thread_id, { metadata: { title: 'Said by others' } });
      expect(asked).toEqual([]);

      await turn(page, 'visible');
      await page.getByRole('log').getByText('t149').waitFor();
      const said = await page.getByRole('article', { name: 'Assistant' }).innerText();
      expect(said.match(/t\d+/g)).toEqual(Array.from({ length: 150 }, (_, n) => `t${n}`));
      expect(asked.some((url) => url.endsWith('/system/changes'))).toBe(true);
      expect(problems).toEqual([]);
      await page.context().close();
    });
  },
);
