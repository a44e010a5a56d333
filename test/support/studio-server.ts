import { Client } from '@langchain/langgraph-sdk';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { openApp } from './app.ts';
import { openBrowser } from './browser.ts';

/** A server, a client of it, and a browser: what the screens of a file are tested with. */
export interface StudioServer {
  readonly http: Awaited<ReturnType<typeof openApp>>;
  readonly browser: Browser;
  readonly origin: string;
  readonly client: Client;
}

/** For the tests of this `describe`: serves these graphs of the fixtures, without keys. Its properties are there when tests begin. */
export function useStudioServer(graphs: string[]): StudioServer {
  const opened: Partial<StudioServer> = {};
  beforeAll(async () => {
    const [http, browser] = await Promise.all([openApp({ graphs }), openBrowser()]);
    Object.assign(opened, { http, browser });
    const { origin } = new URL((await http.app.listen()).url);
    Object.assign(opened, { origin, client: new Client({ apiUrl: origin }) });
  });
  afterAll(async () => {
    await opened.browser?.close();
    await opened.http?.[Symbol.asyncDispose]();
  });
  return opened as StudioServer;
}
