import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser, openBrowser, type PageServer, servePage } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';

const words = (count: number) => Array.from({ length: count }, (_, index) => `t${index} `).join('');

describe.runIf(hasBrowser).each(['sse', 'websocket'])(
  'useStream in a browser, over %s (needs Debian package chromium)',
  (transport) => {
    let server: TestServer;
    let pages: PageServer;
    let browser: Browser;

    beforeAll(async () => {
      [server, pages, browser] = await Promise.all([
        startServer(),
        servePage('stream-page.tsx'),
        openBrowser(),
      ]);
    });

    afterAll(async () => {
      await browser?.close();
      await pages?.[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
    });

    const open = (assistant: string) => pages.open(browser, { server: server.url, assistant, transport });

    /** Types what the page is to send, and presses the button whose name begins so. */
    async function send(page: Page, draft: unknown, button = 'Send') {
      await page.getByLabel('draft').fill(JSON.stringify(draft));
      await page.getByRole('button', { name: button }).click();
    }

    const says = (page: Page, hasText: string) => page.locator('#messages', { hasText }).waitFor();
    const holds = (page: Page, hasText: string) => page.locator('#values', { hasText }).waitFor();
    const is = (page: Page, status: 'idle' | 'running') => page.getByText(status, { exact: true }).waitFor();
    const questions = (page: Page) => page.getByRole('button', { name: 'Answer' });

    test('tokens are shown as they come', async () => {
      const page = await open('tokens');
      await page.evaluate(watchMessages);

      await send(page, { input: { count: 50, token_ms: 20 } });
      await says(page, 't49');
      await is(page, 'idle');

      const shown = await page.evaluate(() => (globalThis as unknown as Watching).shown);
      expect(shown.at(-1)).toBe(words(50));
      expect(shown.every((text) => words(50).startsWith(text))).toBe(true);
      expect(shown.length).toBeGreaterThan(3);
    });

    test('a question is shown, answered, and not shown again', async () => {
      const page = await open('interrupting');
      await send(page, { input: { x: 1 } });
      await send(page, 'yes', 'Answer {"question":"ok?"}');
      await holds(page, '"b:\\"yes\\""');
      await is(page, 'idle');
      expect(await questions(page).count()).toBe(0);

      await page.reload();
      await holds(page, '"b:\\"yes\\""');
      expect(await questions(page).count()).toBe(0);
    });

    test('a question is still shown after the page is reloaded', async () => {
      const page = await open('interrupting');
      await send(page, { input: { x: 2 } });
      await questions(page).waitFor();

      await page.reload();
      await questions(page).waitFor();
      await send(page, 'later', 'Answer');
      await holds(page, '"b:\\"later\\""');
    });

    test('a page that is reloaded resumes the stream of the running run', async () => {
      const page = await open('tokens');
      await send(page, { input: { count: 150, token_ms: 20 } });
      await says(page, 't10');

      await page.reload();
      await says(page, 't149');
      await is(page, 'idle');
      expect(await page.locator('#messages').textContent()).toBe(words(150));
      const thread_id = new URL(page.url()).searchParams.get('thread') as string;
      expect(await server.client.runs.list(thread_id)).toHaveLength(1);
    });

    test('a page resumes its stream when the server is killed and restarts', async () => {
      const page = await open('ten-steps');
      await send(page, { input: { n: 0 }, config: { configurable: { step_ms: 100 } } });
      await holds(page, '"executed":[1,2');
      await server.restart();

      await holds(page, '"executed":[1,2,3,4,5,6,7,8,9,10]');
      await is(page, 'idle');
      expect(await page.getByRole('alert').textContent()).toBe('');
    });
  },
);

interface Watching {
  shown: string[];
}

/** Runs in the page: keeps every text that the messages had. */
function watchMessages(): void {
  const page = globalThis as unknown as Watching & {
    document: { querySelector(selector: string): { textContent: string } };
    MutationObserver: new (seen: () => void) => { observe(target: object, options: object): void };
  };
  page.shown = [];
  const messages = page.document.querySelector('#messages');
  const options = { childList: true, characterData: true, subtree: true };
  new page.MutationObserver(() => page.shown.push(messages.textContent)).observe(messages, options);
}
