import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { type Receiver, receiver, TO_RECEIVER } from '../support/receiver.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { addresses, loaded, type ShownIds, screenPaths } from '../support/studio-screens.ts';
import { signIn } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';
const AS_OPERATOR = { 'x-api-key': OPERATOR };

/** Turns around what follows it: from the end of the override to that of the paragraph, unless the text is isolated. */
const TURNED = 'eman\u202Eevil';

/**
 * Texts that stand left of one that they follow, on the same line of the same block, where that one turns around what
 * follows it.
 */
const MOVED = `(() => {
  const isInline = (one) => /^(inline|contents)$/.test(getComputedStyle(one).display);
  const rectsOf = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].filter(({ width }) => width > 0);
  };
  const moved = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (!text.data.includes('\\u202E')) continue;
    let block = text.parentElement;
    while (isInline(block)) block = block.parentElement;
    const line = rectsOf(text).at(-1);
    if (!line) continue;
    const others = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    others.currentNode = text;
    for (let other = others.nextNode(); other; other = others.nextNode()) {
      const first = rectsOf(other)[0];
      if (other.data.trim() === '' || !first || first.bottom <= line.top || first.top >= line.bottom) continue;
      if (first.left < line.right - 1) moved.push(block.outerHTML.replace(/ class="[^"]*"/g, ''));
    }
  }
  return moved;
})()`;

describe.runIf(hasStudio)('right-to-left texts in Studio (needs Chromium and a build of Studio)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let hook: Receiver;
  let browser: Browser;
  let page: Page;
  let paths: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const environment = { ...TO_RECEIVER, AGENT_SERVER_API_KEYS: OPERATOR };
    const parts = { graphs: ['questions', 'prints'], environment };
    [http, hook, browser] = await Promise.all([openApp(parts), receiver(), openBrowser()]);
    paths = addresses(await plant());
    const { url } = await http.app.listen();
    ({ page } = await openStudio(browser, new URL(url).origin, ''));
    await signIn(page, OPERATOR);
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
    await hook?.[Symbol.asyncDispose]();
  });

  async function created(path: string, body: object) {
    const answer = await http.post(path, body, AS_OPERATOR);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  }

  async function plant(): Promise<ShownIds> {
    const metadata = { title: TURNED, owner: TURNED, [TURNED]: TURNED };
    const { assistant_id } = await created('/assistants', { graph_id: 'questions', name: TURNED, metadata });
    const { thread_id } = await created('/threads', { metadata });
    const input = { messages: [{ role: 'user', content: TURNED }] };
    await created(`/threads/${thread_id}/runs/wait`, { assistant_id, input });
    const [{ run_id }] = (await http.get(`/threads/${thread_id}/runs`, AS_OPERATOR)).body;
    await created('/keys', { name: TURNED, scope: 'read' });
    for (const namespace of [['texts'], ['labels', TURNED]])
      await http.send(
        'PUT',
        '/store/items',
        { namespace, key: TURNED, value: { [TURNED]: TURNED } },
        AS_OPERATOR,
      );
    const cron = { assistant_id, schedule: '0 0 1 1 *', input, metadata };
    const { cron_id } = await created('/runs/crons', cron);
    const { delivery_id } = await created('/webhooks/test', { url: hook.url });
    return { assistant_id, thread_id, run_id, cron_id, delivery_id, deployment_id: cron_id };
  }

  test.each(screenPaths())('%s: do not reorder the text around them', async (screen) => {
    const origin = new URL(page.url()).origin;
    await page.goto(`${origin}/studio${paths[screen]}`);
    await loaded(page);
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true; })`);
    expect(await page.evaluate(MOVED)).toEqual([]);
  });

  test.each([
    ['/keys', () => page.getByRole('button', { name: 'Revoke' })],
    [
      `/store?item=texts&key=${encodeURIComponent(TURNED)}`,
      () => page.getByRole('button', { name: 'Delete' }),
    ],
    ['/assistants/$assistantId', () => page.getByRole('button', { name: 'Delete' })],
  ])('%s: do not reorder the text of a confirmation', async (path, opener) => {
    await page.goto(`${new URL(page.url()).origin}/studio${paths[path] ?? path}`);
    await loaded(page);
    await opener().first().press('Enter');
    await page.getByRole('dialog').getByText(TURNED).first().waitFor();
    expect(await page.evaluate(MOVED)).toEqual([]);
  });
});
