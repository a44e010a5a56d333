import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';
const PAGES = resolve(import.meta.dirname, '../browser');

/** Debian's package `chromium` is installed. */
export const hasBrowser = existsSync(CHROMIUM);

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
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
