import { Client } from '@langchain/langgraph-sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)('the graph next to a chat in Studio (needs Debian package chromium)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    [http, browser] = await Promise.all([openApp({ graphs: ['chat', 'sleeper'] }), openBrowser()]);
    origin = new URL((await http.app.listen()).url).origin;
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
  });

  const node = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  test('nodes light up during the conversation, and runs stop at breakpoints set in the graph by keyboard', async () => {
    const { page, problems } = await openStudio(browser, origin, '/chat/chat');
    await page.getByRole('link', { name: 'Graph', exact: true }).press('Enter');
    await node(page, 'answer').press('Enter');
    await page.getByLabel('before answer').press('Space');
    await node(page, 'answer, runs stop before it').waitFor();
    expect(await violations(page)).toEqual([]);

    await page.getByRole('textbox', { name: /^Message/ }).fill('Slowly');
    await page.keyboard.press('Enter');
    await page.getByText('Stopped before').waitFor();
    await node(page, 'answer, waits, runs stop before it').waitFor();
    await page.getByRole('button', { name: 'Continue' }).press('Enter');
    await page.getByText('You said: Slowly').first().waitFor();
    await node(page, 'answer, done, runs stop before it').waitFor();
    expect(new URL(page.url()).searchParams.get('graph')).toBe('open');

    await page.reload();
    await node(page, 'answer, done, runs stop before it').waitFor();
    await page.getByRole('link', { name: 'Hide graph' }).press('Enter');
    await node(page, 'answer, done, runs stop before it').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('breakpoints work although the browser stores nothing', async () => {
    const { page, problems } = await openStudio(browser, origin, '');
    await page.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('', 'SecurityError'); } });`);
    await page.goto(`${origin}/studio/chat/chat`);
    await page.getByRole('button', { name: 'Breakpoints' }).press('Enter');
    await page.getByLabel('before answer').press('Space');
    await page.getByRole('button', { name: 'Done' }).press('Enter');
    await page.getByRole('textbox', { name: /^Message/ }).fill('Stop');
    await page.keyboard.press('Enter');
    await page.getByText('Stopped before').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('code in an answer is no wider than a window as narrow as a phone', async () => {
    const client = new Client({ apiUrl: origin });
    const { thread_id } = await client.threads.create();
    const messages = [{ role: 'user', content: `\n~~~\n${'wide '.repeat(100)}\n~~~` }];
    await client.runs.wait(thread_id, 'chat', { input: { messages } });
    const { page, problems } = await openStudio(browser, origin, '/chat');
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${origin}/studio/chat/chat/${thread_id}?graph=open`);
    await page.locator('pre', { hasText: 'wide wide' }).waitFor();
    expect(await page.evaluate(`document.querySelector('main').scrollWidth`)).toBe(360);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an executing node is in view, even in a window as narrow as a phone', async () => {
    const client = new Client({ apiUrl: origin });
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'sleeper', { input: { ms: 60_000 } });
    const { page, problems } = await openStudio(browser, origin, `/chat/sleeper/${thread_id}?graph=open`);
    await page.getByRole('button', { name: /, running$/ }).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.getByRole('button', { name: /, running$/ }).waitFor();
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    expect(wide).toBeLessThanOrEqual(360);
    await client.runs.cancel(thread_id, run_id, true);
    await page.getByRole('button', { name: /, running$/ }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('breakpoints can be set on the graph screen', async () => {
    const { page, problems } = await openStudio(browser, origin, '/graphs/chat?node=answer');
    await page.getByLabel('after answer').press('Space');
    await node(page, 'answer, runs stop after it').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${origin}/studio/chat/chat`);
    await page.getByRole('button', { name: '1 breakpoint' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
