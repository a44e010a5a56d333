import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { openBrowser } from './browser.ts';
import { startServer, type TestServer } from './server.ts';
import { openStudio, PREPARATION_MS, readSchemas } from './studio-page.ts';

/** A server in a process of its own, whose chats are tested, and a browser. */
export interface StudioChat {
  readonly server: TestServer;
  readonly browser: Browser;
  /** Opens a screen, such as `chat/tokens`. */
  open(path: string): Promise<Page>;
}

const EXAMPLES: Readonly<Record<string, string>> = { assistant: 'examples/assistant/graph.ts:graph' };

/** For the tests of this `describe`: serves these graphs of the fixtures or examples. Its properties are there when tests begin. */
export function useStudioChat(graphs: readonly string[]): StudioChat {
  const opened: Partial<StudioChat> = {};
  beforeAll(async () => {
    const files = graphs.map((id) => [id, EXAMPLES[id] ?? `test/fixtures/graphs/${id}.ts:graph`] as const);
    const [server, browser] = await Promise.all([
      startServer({
        graphs: Object.fromEntries(files),
        env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' },
      }),
      openBrowser(),
    ]);
    const open = async (path: string) => (await openStudio(browser, server.url, `/${path}`)).page;
    Object.assign(opened, { server, browser, open });
    await readSchemas(server.url, graphs);
  }, PREPARATION_MS);
  afterAll(async () => {
    await opened.browser?.close();
    await opened.server?.[Symbol.asyncDispose]();
  });
  return opened as StudioChat;
}

/** Writes a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /^Message/ }).fill(text);
  await page.keyboard.press('Enter');
}

/** Resolves when the conversation has this text. */
export const says = (page: Page, text: string) => page.getByRole('log').getByText(text).first().waitFor();

/** Resolves when no run is followed. */
export const isIdle = (page: Page) => page.locator('[role=log][aria-busy=false]').waitFor();
