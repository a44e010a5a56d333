import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';

const GRAPHS = 'test/fixtures/graphs';

describe.runIf(hasStudio)('unsent text in a chat of Studio (needs Debian package chromium)', () => {
  let server: TestServer;
  let browser: Browser;

  beforeAll(async () => {
    const graphs = { chat: `${GRAPHS}/chat.ts:graph`, tokens: `${GRAPHS}/tokens.ts:graph` };
    [server, browser] = await Promise.all([startServer({ graphs }), openBrowser()]);
    await readSchemas(server.url, Object.keys(graphs));
  }, PREPARATION_MS);

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** Lets no run begin until it is called, which resolves when the conversation has its own address. */
  async function held(page: Page): Promise<() => Promise<void>> {
    const asked = Promise.withResolvers<() => Promise<void>>();
    await page.route('**/runs', (route) => asked.resolve(() => route.continue()), { times: 1 });
    return async () => {
      await (await asked.promise)();
      await page.waitForURL(/\/chat\/[-\w]+\/[-\w]+$/);
    };
  }

  test('the text of a second message is kept while the first one creates the conversation', async () => {
    const { page, problems } = await openStudio(browser, server.url, '/chat/chat');
    const release = await held(page);
    const box = page.getByRole('textbox', { name: /^Message/ });
    await box.fill('First');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Secnd');
    for (let n = 0; n < 'nd'.length; n++) await page.keyboard.press('ArrowLeft');
    await page.getByLabel('Files').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from('iVBORw0KGgo=', 'base64'),
    });
    await page.getByRole('list', { name: 'Attached' }).waitFor();
    await release();
    await page.getByRole('log').getByText('You said: First').waitFor();
    await page.keyboard.type('o');
    expect(await box.inputValue()).toBe('Second');
    await page.getByRole('list', { name: 'Attached' }).waitFor();

    await page.getByRole('link', { name: 'New thread' }).click();
    await page
      .getByRole('navigation', { name: 'Conversations' })
      .getByRole('link', { name: /first/i })
      .first()
      .waitFor();
    expect(await box.inputValue()).toBe('');
    await page.goBack();
    await page.getByRole('list', { name: 'Attached' }).waitFor();
    expect(await box.inputValue()).toBe('Second');
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('the fields of an input are kept while it creates the conversation', async () => {
    const { page, problems } = await openStudio(browser, server.url, '/chat/tokens');
    const release = await held(page);
    await page.getByRole('button', { name: 'All fields' }).click();
    await page.getByLabel('Count').fill('3');
    await page.keyboard.press('Enter');
    await page.getByLabel('Count').press('End');
    await page.keyboard.type('4');
    await release();
    await page.getByRole('log').getByText('t0 t1 t2').waitFor();
    await page.keyboard.type('5');
    expect(await page.getByLabel('Count').inputValue()).toBe('345');
    await page.context().close();
    expect(problems).toEqual([]);
  });
});
