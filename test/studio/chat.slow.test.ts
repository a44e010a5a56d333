import { describe, expect, test } from 'vitest';
import { isIdle, say, says, useStudioChat } from '../support/studio-chat.ts';
import { editMessage, hasStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';
import { until } from '../support/until.ts';

describe.runIf(hasStudio)('the chat of Studio (needs Debian package chromium)', () => {
  const chat = useStudioChat(['assistant', 'chat', 'fails', 'tokens']);

  test('a conversation begins with an assistant, shows the calls of its tools, and is found again', async () => {
    const page = await chat.open('chat');
    await page
      .getByRole('main')
      .getByRole('link', { name: /^assistant/ })
      .click();
    await say(page, 'When is the shop open on Saturday?');
    await says(page, 'opening-hours.md says under');
    await page.getByText('search_notes').click();
    await page.getByLabel('Result of search_notes').getByText('opening-hours.md').first().waitFor();
    expect(await violations(page)).toEqual([]);

    await page.getByRole('link', { name: 'Chat', exact: true }).click();
    await page.getByRole('link', { name: /^When is the shop open on Saturday\?/ }).click();
    await says(page, 'opening-hours.md says under');
  });

  test('a conversation without a title is found by its first message', async () => {
    const { client } = chat.server;
    const { thread_id } = await client.threads.create();
    const input = { messages: ['Where is the order from Bern?'] };
    await client.runs.wait(thread_id, 'chat', { input });
    const page = await chat.open('chat');
    await page.getByRole('link', { name: /^Where is the order from Bern\?/ }).click();
    await says(page, 'You said: Where is the order from Bern?');
  });

  test('a chat links to the runs of its thread', async () => {
    const { thread_id } = await chat.server.client.threads.create();
    await chat.server.client.runs.wait(thread_id, 'chat', { input: { messages: ['hi'] } });
    const page = await chat.open(`chat/chat/${thread_id}`);
    await page.getByRole('link', { name: 'Last run' }).waitFor();
    await page.getByRole('link', { name: 'Inspect thread' }).click();
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('main').getByRole('link', { name: /^chat/ }).waitFor();
  });

  test('a message is edited and an answer repeated, and their versions are links', async () => {
    const page = await chat.open('chat/chat');
    await say(page, 'One');
    await says(page, 'You said: One');
    await say(page, 'Two');
    await says(page, 'You said: Two');

    await editMessage(page, 'Two', 'Three');
    await says(page, 'You said: Three');
    await editMessage(page, 'Three', 'Four');
    await says(page, 'You said: Four');
    const versions = page.getByRole('navigation', { name: 'Versions of this message' });
    await versions.getByText('3/3').waitFor();
    expect(await page.getByRole('log').innerText()).not.toMatch(/Two|Three/);

    await versions.getByRole('link', { name: 'Earlier version' }).click();
    await says(page, 'You said: Three');
    await page.reload();
    await says(page, 'You said: Three');
    expect(await page.getByRole('log').innerText()).not.toMatch(/Two|Four/);

    await page.getByRole('article', { name: 'Assistant' }).last().hover();
    await page.getByRole('button', { name: 'Regenerate' }).last().click();
    await versions.getByText('2/2').waitFor();
    await editMessage(page, 'One', 'Zero');
    await says(page, 'You said: Zero');
    await versions.getByText('2/2').waitFor();
    expect(await page.getByRole('log').innerText()).not.toMatch(/One/);
  });

  test('messages are sent one after the other without a click, and one that fails to arrive is not lost', async () => {
    const page = await chat.open('chat/chat');
    const box = page.getByRole('textbox', { name: /^Message/ });
    await box.click();
    for (const text of ['One', 'Two', 'Three']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
      await says(page, `You said: ${text}`);
    }
    await page.route('**/runs', (route) => route.abort());
    const refused = () => page.waitForEvent('requestfailed', (request) => request.url().endsWith('/runs'));
    await page.getByLabel('Files').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from('iVBORw0KGgo=', 'base64'),
    });
    await page.getByRole('list', { name: 'Attached' }).waitFor();
    await page.keyboard.type('Four');
    await Promise.all([refused(), page.keyboard.press('Enter')]);
    await expect.poll(() => box.inputValue()).toBe('Four');
    await page.getByRole('list', { name: 'Attached' }).waitFor();
    await Promise.all([refused(), editMessage(page, 'Three', 'Five')]);
    await expect.poll(() => page.getByLabel('Edit message').inputValue()).toBe('Five');

    await page.unroute('**/runs');
    await page.getByLabel('Edit message').press('Enter');
    await says(page, 'You said: Five');
    expect(await page.getByLabel('Edit message').count()).toBe(0);
    expect(await box.inputValue()).toBe('Four');
    await page.context().close();
  });

  test('a message cannot be edited if the checkpoints before it were pruned', async () => {
    const { thread_id } = await chat.server.client.threads.create();
    for (const content of ['One', 'Two'])
      await chat.server.client.runs.wait(thread_id, 'chat', {
        input: { messages: [{ role: 'user', content }] },
      });
    await chat.server.client.threads.prune([thread_id], { strategy: 'keep_latest' });
    const before = await chat.server.client.threads.getState(thread_id);
    const page = await chat.open(`chat/chat/${thread_id}`);
    await says(page, 'You said: Two');
    await editMessage(page, 'One', 'Zero');
    await page.getByRole('alert').getByText('the checkpoint before it was pruned').waitFor();
    await page.getByRole('article', { name: 'Assistant' }).last().hover();
    await page.getByRole('button', { name: 'Regenerate' }).last().click();
    await page.getByRole('alert').getByText('the checkpoint before it was pruned').waitFor();
    await isIdle(page);
    expect(await chat.server.client.threads.getState(thread_id)).toEqual(before);
    expect(await chat.server.client.runs.list(thread_id)).toHaveLength(2);
    await page.context().close();
  });

  test('a graph with more input than messages has a form, and a failed run shows its error', async () => {
    const page = await chat.open('chat/tokens');
    await page.getByRole('button', { name: 'All fields' }).click();
    await page.getByLabel('Count').fill('3');
    await page.getByRole('button', { name: /^Run/ }).click();
    await says(page, 't0 t1 t2');

    await page.goto(`${chat.server.url}/studio/chat/fails`);
    await page.getByRole('button', { name: 'As JSON' }).click();
    await page.getByLabel('Input as JSON').fill('{"x": 7');
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByText(/^Invalid JSON/).waitFor();
    await page.getByLabel('Input as JSON').fill('{"x": 7}');
    await page.getByRole('button', { name: /^Run/ }).click();
    await page.getByRole('alert').getByText('boom 7').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await until('the run is tried again', async () => {
      const thread_id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      return (await chat.server.client.runs.list(thread_id)).length === 2;
    });
    await page.getByRole('alert').getByText('boom 7').waitFor();
  });

  test('links in answers are safe, and HTML in them is text', async () => {
    const page = await chat.open('chat/chat');
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    await say(page, '<img src=x onerror=alert(1)> [here](javascript:alert(2)) [there](https://example.com)');
    await says(page, 'You said: <img src=x onerror=alert(1)>');
    const links = page.getByRole('article', { name: 'Assistant' }).getByRole('link');
    // The end of the answer, which arrives token by token.
    await links.filter({ hasText: 'there' }).waitFor();
    const hrefs = await Promise.all((await links.all()).map((link) => link.getAttribute('href')));
    expect(hrefs).toEqual(['', 'https://example.com']);
    expect(dialogs).toEqual([]);
  });

  test('a chosen image and a recalled message are sent as they were shown', async () => {
    const page = await chat.open('chat/chat');
    await page.getByLabel('Files').setInputFiles({
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: Buffer.from('iVBORw0KGgo=', 'base64'),
    });
    await page.getByRole('list', { name: 'Attached' }).waitFor();
    await say(page, 'Look');
    await says(page, 'You said: Look');
    await page.getByRole('textbox', { name: /^Message/ }).press('ArrowUp');
    expect(await page.getByRole('textbox', { name: /^Message/ }).inputValue()).toBe('Look');

    const thread_id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const { values } = await chat.server.client.threads.getState<{ messages: { content: unknown }[] }>(
      thread_id,
    );
    expect(values.messages[0]?.content).toEqual([
      { type: 'text', text: 'Look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ]);
  });
});
