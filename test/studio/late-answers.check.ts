import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { say, says, useStudioChat } from '../support/studio-chat.ts';
import { hasStudio } from '../support/studio-page.ts';

describe.runIf(hasStudio)('late responses to Studio (needs Debian package chromium)', () => {
  const chat = useStudioChat(['chat']);

  const box = (page: Page) => page.getByRole('textbox', { name: /^Message/ });
  const screen = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name }).click();
  const query = (page: Page) => new URL(page.url()).searchParams;

  /** A thread that has answered this. */
  async function conversation(content: string): Promise<string> {
    const { thread_id } = await chat.server.client.threads.create({ metadata: { title: content } });
    const input = { messages: [{ role: 'user', content }] };
    await chat.server.client.runs.wait(thread_id, 'chat', { input });
    return thread_id;
  }

  /** Keeps the next request back, until it is let through or refused. */
  async function held(page: Page, path: RegExp) {
    const asked = Promise.withResolvers<{ pass(): Promise<void>; refuse(): Promise<void> }>();
    await page.route(
      path,
      (route) =>
        asked.resolve({
          pass: () => route.continue(),
          refuse: () => route.fulfill({ status: 503, json: { detail: 'Try again later.' } }),
        }),
      { times: 1 },
    );
    return asked.promise;
  }

  test('a message that is refused after its conversation was left can be sent again', async () => {
    const thread_id = await conversation('Hello');
    const [assistant] = await chat.server.client.assistants.search({ graphId: 'chat' });
    const versions = `assistants/${assistant?.assistant_id}?tab=try`;
    for (const place of ['chat/chat', `chat/chat/${thread_id}`, versions]) {
      const page = await chat.open(place);
      const sending = held(page, /\/runs$/);
      await say(page, 'Keep this');
      await expect.poll(() => box(page).inputValue()).toBe('');
      const { refuse } = await sending;
      await screen(page, 'Runs');
      await page.getByRole('heading', { name: 'Runs' }).waitFor();
      const refused = page.waitForResponse(/\/runs$/);
      await refuse();
      await refused;
      await page.goBack();
      await expect.poll(() => box(page).inputValue()).toBe('Keep this');
      await page.context().close();
    }
  });

  test('a conversation that is created late does not navigate back a user who has left', async () => {
    const page = await chat.open('chat/chat');
    const sending = held(page, /\/runs$/);
    await say(page, 'A late beginning');
    const { pass } = await sending;
    await screen(page, 'Chat');
    await page.getByRole('list', { name: 'Assistants' }).waitFor();
    await pass();
    const recent = page.getByRole('region', { name: 'Recent conversations' });
    await recent.getByText('A late beginning').click();
    await says(page, 'You said: A late beginning');
    await page.goBack();
    await page.getByRole('list', { name: 'Assistants' }).waitFor();
    await page.context().close();
  });

  test('a run that is created late does not change the shown version of another conversation', async () => {
    const [first, second] = [await conversation('First'), await conversation('Second')];
    const [newest, ...older] = await chat.server.client.threads.getHistory(second);
    const [at] = older.map(({ checkpoint }) => checkpoint.checkpoint_id);
    const page = await chat.open(`chat/chat/${second}?at=${at}`);
    await page.getByRole('link', { name: 'Latest version' }).waitFor();
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/studio/chat/chat/${first}`)})`);
    await says(page, 'You said: First');
    const sending = held(page, /\/runs$/);
    await say(page, 'Late');
    const { pass } = await sending;
    await page.goBack();
    await page.getByRole('link', { name: 'Latest version' }).waitFor();
    const created = page.waitForResponse(/\/runs$/);
    await pass();
    await created;
    await chat.server.client.runs
      .list(first)
      .then(([run]) => chat.server.client.runs.join(first, run!.run_id));
    expect(newest?.checkpoint.checkpoint_id).not.toBe(at);
    expect(query(page).get('at')).toBe(at);
    await page.context().close();
  });

  test('a fork that is created late is not looked for in another thread', async () => {
    const [first, second] = [await conversation('One'), await conversation('Two')];
    const page = await chat.open(`threads/${first}`);
    const forking = held(page, /\/state$/);
    await page.getByRole('button', { name: 'Fork from here' }).click();
    const { pass } = await forking;
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/studio/threads/${second}`)})`);
    await page.getByRole('heading', { name: 'Two', level: 1 }).waitFor();
    const forked = page.waitForResponse(/\/state$/);
    await pass();
    await forked;
    // Whatever the answer leads to has happened when the page has answered a key since.
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    expect(query(page).get('checkpoint')).toBeNull();
    await page.context().close();
  });

  test('a dialog whose response is late does not navigate a user who has left', async () => {
    const thread_id = await conversation('Three');
    const [run] = await chat.server.client.runs.list(thread_id);
    const button = (page: Page, name: string) => page.getByRole('button', { name }).click();
    const late: [string, RegExp, (page: Page) => Promise<void>][] = [
      [
        `threads/${thread_id}`,
        /\/state$/,
        async (page) => {
          await button(page, 'Edit state');
          await button(page, 'Write checkpoint');
        },
      ],
      [
        `runs/${run?.run_id}`,
        /\/threads\/[^/]+\/runs$/,
        async (page) => {
          await button(page, 'Re-run with changes');
          await button(page, 'Start run');
        },
      ],
      [
        'crons',
        /\/runs\/crons$/,
        async (page) => {
          await button(page, 'New cron');
          await button(page, 'Create');
        },
      ],
    ];
    for (const [place, request, act] of late) {
      const page = await chat.open(place);
      const sending = held(page, request);
      await act(page);
      const { pass } = await sending;
      await page.keyboard.press('Escape');
      await screen(page, 'Store');
      await page.getByRole('heading', { name: 'Store' }).waitFor();
      const answered = page.waitForResponse(request);
      await pass();
      await answered;
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      expect([place, new URL(page.url()).pathname]).toEqual([place, '/studio/store']);
      await page.context().close();
    }
  });
});
