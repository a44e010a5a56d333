import { beforeAll, describe, expect, test } from 'vitest';
import { hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';

describe.runIf(hasStudio)('odd contents in Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['chat']);

  beforeAll(() => readSchemas(studio.origin, ['chat']), PREPARATION_MS);

  const open = (path: string) => openStudio(studio.browser, studio.origin, path);

  /** A conversation in which another client wrote this. */
  async function written(...messages: readonly object[]): Promise<string> {
    const { thread_id } = await studio.client.threads.create({ graphId: 'chat' });
    await studio.client.threads.updateState(thread_id, { values: { messages }, asNode: 'answer' });
    return thread_id;
  }

  test('unreadable parts of a message are omitted, and the rest of the conversation is shown', async () => {
    const parts = [{ type: 'text', text: 'before ' }, null, { type: 'text', text: 'and after' }];
    const thread_id = await written({ type: 'human', content: parts }, { type: 'ai', content: 'An answer' });
    const { page, problems } = await open(`/chat/chat/${thread_id}`);
    await page.getByRole('article', { name: 'You' }).getByText('before and after').waitFor();
    await page.getByRole('article', { name: 'Assistant' }).getByText('An answer').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a block that is too long for Markdown is shown as plain text', async () => {
    const lines = Array.from({ length: 5_000 }, (_, n) => `line ${n} of *it*`);
    const thread_id = await written({ type: 'ai', content: lines.join('\n') });
    const { page, problems } = await open(`/chat/chat/${thread_id}`);
    const answer = page.getByRole('article', { name: 'Assistant' });
    await answer.getByText('line 4999').waitFor();
    expect((await answer.innerText()).split('\n').slice(0, 5_000)).toEqual(lines);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test.each(['{"user":7}', '{ "user" : 7 }', 'user=7'])(
    'a filter in the address is applied literally: %s',
    async (filter) => {
      await studio.client.threads.create({ metadata: { user: 7, title: 'Of the user' } });
      await studio.client.threads.create({ metadata: { title: 'Of nobody' } });
      const { page, problems } = await open(`/threads?metadata=${encodeURIComponent(filter)}`);
      await page
        .getByRole('link', { name: /^Of the user/ })
        .first()
        .waitFor();
      expect(await page.getByRole('link', { name: /^Of nobody/ }).count()).toBe(0);
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  test.each(['find=true', 'find=null', 'status=[1]', 'metadata=[[1]]', 'metadata={"a":'])(
    'an address with other values leaves the screen usable: %s',
    async (search) => {
      const { page, problems } = await open(`/threads?${search}`);
      await page
        .getByRole('main')
        .getByText(/No matching threads|Enter name=value|unknown value|is not a JSON object/)
        .first()
        .waitFor();
      await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Threads' }).click();
      await page.getByRole('columnheader', { name: 'Updated' }).waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );
});
