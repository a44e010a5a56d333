import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { editMessage, hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';

describe.runIf(hasStudio)('messages without ids in a chat of Studio (needs Debian package chromium)', () => {
  let server: TestServer;
  let browser: Browser;

  beforeAll(async () => {
    const graphs = { chat: 'test/fixtures/graphs/chat-without-ids.ts:graph' };
    [server, browser] = await Promise.all([startServer({ graphs }), openBrowser()]);
    await readSchemas(server.url, Object.keys(graphs));
  }, PREPARATION_MS);

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  /** A page with a conversation in which a person said these texts. */
  async function conversation(...texts: readonly string[]) {
    const { thread_id } = await server.client.threads.create();
    for (const content of texts)
      await server.client.runs.wait(thread_id, 'chat', { input: { messages: [{ type: 'human', content }] } });
    const { page, problems } = await openStudio(browser, server.url, `/chat/chat/${thread_id}`);
    await page.getByText(`You said: ${texts.at(-1)}`).waitFor();
    return { thread_id, page, problems };
  }

  async function contents(thread_id: string) {
    const { values } = await server.client.threads.getState<{ messages: { content: string }[] }>(thread_id);
    return values.messages.map(({ content }) => content);
  }

  test('a message can be edited, and an answer repeated, in its place', async () => {
    const { thread_id, page, problems } = await conversation('One', 'Two');
    await editMessage(page, 'Two', 'Three');
    await page.getByText('You said: Three').waitFor();
    const versions = page.getByRole('navigation', { name: 'Versions of this message' });
    await versions.getByText('2/2').waitFor();
    const said = ['One', 'You said: One', 'Three', 'You said: Three'];
    expect(await contents(thread_id)).toEqual(said);

    await page.getByRole('article', { name: 'Assistant' }).last().hover();
    await page.getByRole('button', { name: 'Regenerate' }).last().click();
    await versions.nth(1).waitFor();
    expect(await contents(thread_id)).toEqual(said);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('a message cannot be edited if the graph has dropped the messages before it', async () => {
    const { thread_id, page, problems } = await conversation('One', 'Two', 'Three');
    const before = await server.client.threads.getState(thread_id);
    for (const text of ['Two', 'Three']) {
      await editMessage(page, text, 'Zero');
      await page.getByRole('alert').getByText('it has no id').waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
    }
    expect(await server.client.threads.getState(thread_id)).toEqual(before);
    expect(await server.client.runs.list(thread_id)).toHaveLength(3);
    await page.context().close();
    expect(problems).toEqual([]);
  });
});
