import { resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { hasBrowser, openBrowser } from '../support/browser.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');

const KEY = 'a-key-for-the-page';
/** A page of 76 operations is slow on a busy machine. */
const PATIENTLY = { timeout: 20_000 };

/** Opens an operation, executes its example as it stands, and resolves to the status and the text of the answer. */
async function tryItOut(page: Page, operationId: string): Promise<[string, string]> {
  const operation = page.locator(`[id$="-${operationId}"]`);
  const summary = operation.locator('.opblock-summary');
  await summary.click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table .response').first();
  const status = await answer.locator('.response-col_status').innerText();
  const text = await answer.locator('.response-col_description').innerText();
  // An open operation makes the page slow for all that follow.
  await summary.click();
  return [status.trim().split(/\s/)[0] as string, text];
}

async function authorize(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  await page.locator('.auth-container input').first().fill(KEY);
  await page.locator('.auth-btn-wrapper').getByRole('button', { name: 'Apply credentials' }).first().click();
  await page.locator('.auth-btn-wrapper').getByRole('button', { name: 'Close' }).first().click();
}

interface Document {
  readonly tags: { name: string }[];
  readonly paths: Record<string, Record<string, DocumentedOperation>>;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: string[];
  readonly parameters?: { required: boolean; example?: unknown }[];
  readonly responses: Record<string, { content?: Record<string, unknown> }>;
}

/** The first operation of a group whose example is complete and whose answer has an end, which a page waits for. */
function firstExample({ paths }: Document, group: string): string | undefined {
  return Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ tags }) => tags.includes(group))
    .filter(({ parameters = [] }) =>
      parameters.every(({ required, example }) => !required || example !== undefined),
    )
    .find(({ responses }) => !responses['200']?.content?.['text/event-stream'])?.operationId;
}

describe.runIf(hasBrowser)('the documentation page, in a browser (needs Debian package chromium)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    const environment = { AGENT_SERVER_API_KEYS: KEY };
    const everyGroup = { openai: { enabled: true } };
    http = await openApp({ graphs: ['echo'], folder: REPOSITORY, environment, http: everyGroup });
    origin = new URL((await http.app.listen()).url).origin;
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
  });

  test('works without internet, keeps the key, and its examples can be executed', async () => {
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
    await authorize(page);

    await page.reload();
    await page.locator('.opblock').first().waitFor();
    expect(await tryItOut(page, 'get_info')).toEqual(['200', expect.stringContaining('agent-server')]);
    expect((await tryItOut(page, 'create_thread'))[0]).toBe('200');
    expect(await tryItOut(page, 'wait_run')).toEqual(['200', expect.stringContaining('Hello')]);
    expect(await tryItOut(page, 'stream_run')).toEqual(['200', expect.stringContaining('event: metadata')]);
    expect(await tryItOut(page, 'get_thread_state')).toEqual(['200', expect.stringContaining('Hello')]);
    expect(elsewhere).toEqual([]);
  });

  test('searches operations, follows the theme of the browser, and links to the guides', async () => {
    const context = await browser.newContext({ colorScheme: 'dark' });
    const page = await context.newPage();
    await page.goto(`${origin}/docs`);
    await page.locator('.opblock').first().waitFor();
    const all = await page.locator('.opblock').count();
    const dark = () => page.locator('html.dark-mode').count();
    expect(await dark()).toBe(1);
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(dark, PATIENTLY).toBe(0);

    const box = page.getByPlaceholder(/Filter/);
    await box.fill('CANCEL');
    await expect.poll(() => page.locator('.opblock').count(), PATIENTLY).toBeLessThan(all / 4);
    const found = await page.locator('.opblock-summary').allInnerTexts();
    expect(found.every((text) => /cancel/i.test(text))).toBe(true);
    await box.fill('crons');
    await expect
      .poll(() => page.locator('.opblock-tag').allInnerTexts(), PATIENTLY)
      .toEqual([expect.stringMatching(/^Crons/)]);

    // In a window of their own.
    const opened = context.waitForEvent('page');
    await page.getByRole('link', { name: /^Guides/ }).click();
    const guides = await opened;
    await guides.getByRole('link', { name: 'runs', exact: true }).first().click();
    await guides.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    await context.close();
  });

  test.each(['guides/a2a.md', 'guides/configuration.md', 'guides/search?q=runs'])(
    '%s fits on a telephone: what is too wide scrolls or breaks by itself',
    async (path) => {
      const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
      await page.goto(`${origin}/docs/${path}`);
      await page.getByRole('button', { name: 'Search' }).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      const { width = 0 } = (await page.getByRole('searchbox').boundingBox()) ?? {};
      expect(width).toBeGreaterThan(150);
      await page.close();
    },
  );

  test('guides change to the dark theme, also on the next page, within their content security policy', async () => {
    const context = await browser.newContext({ colorScheme: 'light' });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    await page.goto(`${origin}/docs/guides/runs.md`);
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.getByRole('link', { name: 'streaming', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Streaming', level: 1 }).waitFor();

    expect(await page.locator('html[data-theme=dark]').count()).toBe(1);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('shows every group of the document, and the first example of each works', async () => {
    const document = (await http.get('/openapi.json')).body as Document;
    const groups = document.tags.map(({ name }) => name);
    const page = await browser.newPage();
    await page.goto(`${origin}/docs`);
    await page.locator('.opblock').first().waitFor();
    await authorize(page);

    const tags = await page.locator('.opblock-tag').all();
    const shown = await Promise.all(tags.map((tag) => tag.getAttribute('data-tag')));
    expect(shown).toEqual(groups);
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(await page.locator('.opblock').count()).toBe(operations.length);

    const broken: string[] = [];
    for (const group of groups) {
      const operationId = firstExample(document, group);
      if (operationId === undefined) broken.push(`${group}: no operation has a complete example`);
      else {
        const [status, text] = await tryItOut(page, operationId);
        if (!status.startsWith('2')) broken.push(`${group}: ${operationId} answers ${status}: ${text}`);
      }
    }
    expect(broken).toEqual([]);
  });
});
