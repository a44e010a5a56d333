import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Browser, ConsoleMessage, Page } from 'playwright-core';
import { expect, onTestFinished, TestRunner } from 'vitest';
import { hasBrowser } from './browser.ts';

const BUILD = resolve(import.meta.dirname, '../../dist/studio/index.html');

/** Chromium is installed and Studio is built. */
export const hasStudio = hasBrowser && existsSync(BUILD);

/** Paths that are not operations: the application's own files, and pages. */
const OWN_FILE = /^\/(studio($|\/(?!session))|favicon|docs$|o\/)/;
const isOwnFile = (method: string, path: string, at: string) =>
  /^(GET|HEAD)$/.test(method) &&
  (OWN_FILE.test(path) || (at !== '/studio' && `${path}/`.startsWith(`${at}/`)));
/** A deployment has the same operations below its path. */
const OF_DEPLOYMENT = /^\/deployments\/[^/]+/;

export interface StudioPage {
  readonly page: Page;
  /** What a page must never do: ask elsewhere, call what is not documented, break the policy for content, throw. */
  readonly problems: string[];
}

/**
 * A page of Studio in a context of its own, and what is wrong with it. `base` is the server's origin, with its prefix; `at`
 * is `studio.path`.
 */
export async function openStudio(
  browser: Browser,
  base: string,
  path: string,
  at = '/studio',
): Promise<StudioPage> {
  const { origin, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, '');
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const isDocumented = documented(
    (await (await fetch(`${origin}${prefix}/openapi.json`)).json()) as Document,
  );
  const problems: string[] = [];
  // Tests look at them sooner where it tells more. One that opens a page before all of them looks at them itself.
  if (TestRunner.getCurrentTest()) onTestFinished(() => expect(problems).toEqual([]));
  // Of the context: pages that this one opens are of Studio too.
  context.on('weberror', (error) => problems.push(error.error().message));
  context.on('console', (message) => {
    if (/content security policy/i.test(message.text()) && !isOfEditing(message))
      problems.push(message.text());
  });
  context.on('request', (request) => {
    const url = new URL(request.url());
    if (/^(data|blob):$/.test(url.protocol)) return;
    const path = url.pathname.slice(prefix.length).replace(OF_DEPLOYMENT, '');
    if (url.origin !== origin || !url.pathname.startsWith(prefix)) problems.push(`asks ${url.href}`);
    else if (!isOwnFile(request.method(), path, at) && !isDocumented(request.method(), path))
      problems.push(`calls ${request.method()} ${url.pathname}, which is not documented`);
  });
  // Not a problem: the page loads again what did not arrive. It explains a page that stays empty.
  const unanswered: string[] = [];
  page.on('requestfailed', (request) => unanswered.push(`${request.url()}: ${request.failure()?.errorText}`));
  await page.goto(`${origin}${prefix}${at}${path}`);
  await page
    .locator('#root > *')
    .first()
    .waitFor()
    .catch((cause: unknown) => {
      const found = [...unanswered, ...problems].join('\n') || 'All files arrived.';
      throw new Error(`${page.url()} stays empty. ${found}`, { cause });
    });
  return { page, problems };
}

/** Enough for `readSchemas` and the start of a server on a busy machine. */
export const PREPARATION_MS = 300_000;

/**
 * Reads the schemas of graphs, on which screens wait: of graphs that have only types, a busy machine needs longer for the
 * first time than a test waits for a screen.
 */
export async function readSchemas(url: string, graph_ids: readonly string[]): Promise<void> {
  for (const id of graph_ids) await (await fetch(`${url}/assistants/${id}/schemas`)).json();
}

/**
 * Chromium's own editing keeps the look of text whose lines it joins by a style at the element; the policy drops it. Such
 * a message names no place in the code, as those of our own would.
 */
function isOfEditing(message: ConsoleMessage): boolean {
  const { url, lineNumber } = message.location();
  return message.text().startsWith('Applying inline style') && lineNumber === 0 && !url.endsWith('.js');
}

interface Document {
  readonly paths: Record<string, Record<string, unknown>>;
}

/** Whether a request is an operation of an OpenAPI document. */
function documented({ paths }: Document) {
  const operations = Object.entries(paths).map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`),
    methods: Object.keys(methods).map((method) => method.toUpperCase()),
  }));
  return (method: string, path: string) =>
    operations.some(({ pattern, methods }) => pattern.test(path) && methods.includes(method));
}

/** Changes a message of the person in a chat, and sends it. */
export async function editMessage(page: Page, text: string, next: string): Promise<void> {
  const message = page.getByRole('article', { name: 'You' }).filter({ hasText: text });
  await message.hover();
  await message.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Edit message').fill(next);
  await page.keyboard.press('Enter');
}
