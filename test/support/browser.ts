import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The first one that is installed: the shell has no window that it draws, and takes half the CPU for a page. */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);
const PAGES = resolve(import.meta.dirname, '../browser');

/** Debian's package `chromium-headless-shell` is installed, or `chromium`. */
export const hasBrowser = CHROMIUM !== undefined;

/** ms until an element that does not appear fails its test. Playwright's 30 s are short for a busy machine. */
const PATIENCE_MS = 120_000;

/** Of this process, also for the next test file in it. Playwright kills it when the process exits. */
let chromiumOfProcess: Promise<Browser> | undefined;

/** A browser whose contexts are its own: to close it closes these, and the next test finds Chromium running. */
export async function openBrowser(): Promise<Browser> {
  chromiumOfProcess ??= chromium.launch({
    ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
    args: ['--no-sandbox'],
  });
  const shared = await chromiumOfProcess;
  const contexts = new Set<BrowserContext>();
  const newContext: Browser['newContext'] = async (options) => {
    const context = await shared.newContext(options);
    context.setDefaultTimeout(PATIENCE_MS);
    contexts.add(context);
    context.on('close', () => contexts.delete(context));
    return context;
  };
  const close = async () => {
    await Promise.all([...contexts].map((context) => context.close()));
  };
  const own: Pick<Browser, 'newContext' | 'newPage' | 'close' | typeof Symbol.asyncDispose> = {
    newContext,
    newPage: async (options) => (await newContext(options)).newPage(),
    close,
    [Symbol.asyncDispose]: close,
  };
  return Object.assign(Object.create(shared), own);
}

export interface PageServer extends AsyncDisposable {
  /** Opens the page with these parameters in its address. */
  open(browser: Browser, parameters: Readonly<Record<string, string>>): Promise<Page>;
}

/** Serves a React program of test/browser from an origin of its own. */
export async function servePage(name: string): Promise<PageServer> {
  const { outputFiles } = await build({
    entryPoints: [resolve(PAGES, name)],
    bundle: true,
    write: false,
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  });
  const script = outputFiles[0]?.text ?? '';
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isScript ? script : '<!doctype html><div id="root"></div><script src="/page.js"></script>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    async open(browser, parameters) {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${port}/?${new URLSearchParams(parameters)}`);
      return page;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
