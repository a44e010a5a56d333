import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';

/** Ten to a row, of which the last two are what begins and ends the text. */
const TOKENS = 4_000;

describe.runIf(hasStudio)('long answers in a chat of Studio (needs Chromium and a build of Studio)', () => {
  let server: TestServer;
  let browser: Browser;

  beforeAll(async () => {
    const graphs = { 'long-answer': 'test/fixtures/graphs/long-answer.ts:graph' };
    [server, browser] = await Promise.all([startServer({ graphs }), openBrowser()]);
    await readSchemas(server.url, Object.keys(graphs));
  }, PREPARATION_MS);

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function answer(shape = 'table', count = TOKENS) {
    const { thread_id } = await server.client.threads.create();
    const { page, problems } = await openStudio(browser, server.url, `/chat/long-answer/${thread_id}`);
    await page.getByRole('log').waitFor();
    const { run_id } = await server.client.runs.create(thread_id, 'long-answer', {
      input: { shape, count, token_ms: 1 },
      streamMode: ['values', 'messages-tuple'],
      streamResumable: true,
    });
    return { page, problems, done: () => server.client.runs.join(thread_id, run_id) };
  }

  const firstCells = (page: Page) => page.locator('tbody td:first-child').allInnerTexts();
  const numbers = [...Array.from({ length: TOKENS / 10 }, (_, n) => `${n * 10}`), ''];

  /** From the next address on, counts the elements of a kind that the page gets in each of its tasks. */
  const countAdded = (page: Page, selector: string) =>
    page.addInitScript(`
      globalThis.added = [];
      new MutationObserver((changes) => {
        const nodes = changes.flatMap(({ addedNodes }) => [...addedNodes]);
        added.push(nodes.reduce((sum, node) => sum + (node.querySelectorAll?.('${selector}').length ?? 0), 0));
      }).observe(document, { subtree: true, childList: true });
    `);
  const mostAdded = async (page: Page) => Math.max(...(await page.evaluate<number[]>('added')));

  test('a long table is one table, and its rendered rows stay while it grows', async () => {
    const { page, problems, done } = await answer();
    await page.getByRole('cell', { name: '1000', exact: true }).waitFor();
    await page.evaluate(`document.querySelector('tbody tr').dataset.drawn = 'before'`);
    await done();
    await page.getByRole('cell', { name: 'the end' }).waitFor();
    await expect.poll(() => firstCells(page)).toEqual(numbers);
    expect(await page.getByRole('columnheader').allInnerTexts()).toEqual(['a', 'b']);
    expect(await page.locator('tr[data-drawn=before]').count()).toBe(1);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the end of a conversation stays in view, even if it grows before the scroll event', async () => {
    const { page, problems, done } = await answer();
    await done();
    await page.getByRole('cell', { name: 'the end' }).waitFor();
    const log = `document.querySelector('[role=log]')`;
    const toEnd = () => page.evaluate<number>(`${log}.scrollHeight - ${log}.scrollTop - ${log}.clientHeight`);
    await expect.poll(toEnd).toBe(0);
    await page.evaluate(`{
      const more = document.createElement('p');
      more.style.height = '500px';
      ${log}.firstElementChild.append(more);
      ${log}.dispatchEvent(new Event('scroll'));
    }`);
    await expect.poll(toEnd).toBe(0);

    await page.evaluate(`${log}.scrollBy(0, -300)`);
    await expect.poll(toEnd).toBe(300);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('a long answer is rendered in chunks that leave the page usable', async () => {
    const { page, problems, done } = await answer();
    await done();
    await page.goto('about:blank');
    await countAdded(page, 'tr');
    await page.goBack();
    await page.getByRole('cell', { name: 'the end' }).waitFor();
    await expect.poll(() => firstCells(page)).toEqual(numbers);
    expect(await mostAdded(page)).toBeLessThan(numbers.length / 2);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a table of 3,000 columns shows the first ones, and all on request', async () => {
    const { page, problems, done } = await answer('wide', 40);
    await done();
    await page.goto('about:blank');
    await countAdded(page, 'td, th');
    await page.goBack();
    await page.getByRole('cell', { name: 'the end' }).waitFor();
    expect(await page.getByRole('columnheader').count()).toBe(50);
    await expect.poll(() => firstCells(page)).toEqual(['0', '10', '20', '30', 'the end']);
    expect(await mostAdded(page)).toBeLessThan(500);

    await page.getByRole('button', { name: 'Show all' }).press('Enter');
    await expect.poll(() => page.locator('th').count()).toBe(3000);
    await expect.poll(() => firstCells(page)).toEqual(['0', '10', '20', '30', 'the end']);
    expect(await page.getByRole('button', { name: 'Show all' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
