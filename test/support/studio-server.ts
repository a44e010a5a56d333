import { Client } from '@langchain/langgraph-sdk';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { BuildRevision } from '../../src/extensions/deployments/services/builder.ts';
import { openApp } from './app.ts';
import type { AppParts } from './app-parts.ts';
import { openBrowser } from './browser.ts';
import { openDeploymentServer } from './deployments.ts';

/** A server, a client of it, and a browser: what the screens of a file are tested with. */
export interface StudioServer {
  readonly http: Awaited<ReturnType<typeof openApp>>;
  readonly browser: Browser;
  readonly origin: string;
  readonly client: Client;
}

/** For the tests of this `describe`: serves these graphs of the fixtures, without keys. Its properties are there when tests begin. */
export function useStudioServer(graphs: string[], parts: Omit<AppParts, 'graphs'> = {}): StudioServer {
  const opened: Partial<StudioServer> = {};
  beforeAll(async () => {
    const [http, browser] = await Promise.all([openApp({ ...parts, graphs }), openBrowser()]);
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

/** A server with deployments, and a browser. */
export interface DeploymentStudio {
  readonly server: Awaited<ReturnType<typeof openDeploymentServer>>;
  readonly browser: Browser;
}

/** For the tests of this `describe`: deployments are built by `build`. Its properties are there when tests begin. */
export function useDeploymentStudio(build: BuildRevision): DeploymentStudio {
  const opened: Partial<DeploymentStudio> = {};
  beforeAll(async () => {
    const [server, browser] = await Promise.all([openDeploymentServer({ build }), openBrowser()]);
    Object.assign(opened, { server, browser });
  }, 60_000);
  afterAll(async () => {
    await opened.browser?.close();
    await opened.server?.[Symbol.asyncDispose]();
  });
  return opened as DeploymentStudio;
}
