import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSite } from '../site/build.ts';
import { hasBrowser, openBrowser } from './support/browser.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
};

describe.runIf(hasBrowser)('the site of the guides, in a browser (needs Debian package chromium)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-site-'));
  let browser: Browser;
  let url: string;
  const host = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://site.test').pathname.replace('/below/', '');
    response.setHeader('content-type', TYPES[extname(path)] ?? 'application/octet-stream');
    response.end(readFileSync(join(folder, path)));
  });

  beforeAll(async () => {
    const files = new Set(await buildSite(folder));
    expect(files).toContain('search.js');
    host.listen(0, '127.0.0.1');
    await once(host, 'listening');
    url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/below`;
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    host.close().closeAllConnections();
    await rm(folder, { recursive: true });
  });

  test('a search finds the page that answers the question, and its link leads there', async () => {
    const page = await browser.newPage();
    await page.goto(`${url}/recipes/fan-out.html`);
    await page.getByRole('searchbox').fill('approve a tool call in Slack');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('main').getByRole('link').first().click();
    await page.getByRole('heading', { level: 1, name: /Slack/ }).waitFor();
    expect(page.url()).toBe(`${url}/recipes/approve-in-slack.html`);
  });

  test('the theme is that of the system until it is chosen, and the choice lasts', async () => {
    const context = await browser.newContext({ colorScheme: 'light' });
    const page = await context.newPage();
    await page.goto(`${url}/index.html`);
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.getByRole('button', { name: 'Dark' }).click();
    const dark = await background();
    expect(dark).not.toBe(light);

    await page.getByRole('link', { name: 'runs', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    expect(await background()).toBe(dark);
    await page.getByRole('button', { name: 'Light' }).click();
    expect(await background()).toBe(light);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await background()).toBe(dark);
    await context.close();
  });
});
