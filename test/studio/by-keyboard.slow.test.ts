import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { reach, use, write } from '../support/keyboard.ts';
import { receiver, TO_RECEIVER } from '../support/receiver.ts';
import { hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { forkEditAndRerun, historyOf } from '../support/thread-history.ts';
import { until } from '../support/until.ts';

describe.runIf(hasStudio)('the daily jobs by keyboard alone in Studio (needs Chromium and a build)', () => {
  const studio = useStudioServer(['alone', 'chat', 'echo', 'fails', 'interrupting', 'tokens'], {
    environment: TO_RECEIVER,
  });

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const link = (page: Page, name: string | RegExp) => page.getByRole('link', { name, exact: true });
  const main = (page: Page) => page.getByRole('main');
  const node = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const message = (page: Page) => page.getByRole('textbox', { name: /^Message/ });
  const says = (page: Page, text: string) => page.getByRole('log').getByText(text).first().waitFor();
  const threadOf = (page: Page) => new URL(page.url()).pathname.split('/').at(-1) as string;
  const row = (page: Page, name: string) =>
    page.getByRole('listbox', { name: 'Checkpoints' }).getByRole('option').filter({ hasText: name });
  const selected = (page: Page, name: string) => row(page, name).and(page.locator('[aria-selected=true]'));

  /** From the first page to an assistant's chat. */
  async function chatWith(page: Page, assistant: string): Promise<void> {
    await use(page, page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Chat' }));
    await use(page, page.getByRole('list', { name: 'Assistants' }).getByRole('link', { name: assistant }));
    await page.getByRole('heading', { name: assistant, level: 1 }).waitFor();
  }

  async function say(page: Page, text: string): Promise<void> {
    await write(page, message(page), text);
    await page.keyboard.press('Enter');
  }

  test('an input is written, nodes light up, and the reason of a failed run is found', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await chatWith(page, 'fails');
    await use(page, link(page, 'Graph').last());
    await node(page, 'throws').waitFor();
    await use(page, button(page, 'As JSON'));
    await write(page, page.getByLabel('Input as JSON'), '{"x": 7}');
    await page.keyboard.press('Control+Enter');
    await node(page, 'works, done').waitFor();
    await node(page, 'throws, failed').waitFor();
    await page.getByRole('alert').getByText('boom 7').waitFor();

    await use(page, link(page, 'Open run'));
    await page.getByRole('heading', { name: 'BoomError' }).first().waitFor();
    await use(page, page.getByRole('region', { name: 'Steps' }).getByRole('button', { name: /^throws/ }));
    await page.getByRole('heading', { name: 'throws' }).waitFor();
    await use(page, link(page, 'Explain'));
    await main(page).getByText('Attempt', { exact: true }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a thread is forked, edited and run again', async () => {
    const [inPage, bySdk] = await Promise.all([waiting(), waiting()]);
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await use(page, page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Threads' }));
    await use(page, main(page).locator(`a[href$="${inPage}"]`));
    const toInput = async () => {
      await reach(page, page.getByRole('listbox', { name: 'Checkpoints' }));
      // The input is the last but one.
      await page.keyboard.press('End');
      await selected(page, 'start of a run').waitFor();
      await page.keyboard.press('ArrowUp');
      await selected(page, 'input').waitFor();
    };
    await toInput();
    await use(page, button(page, 'Fork from here'));
    await selected(page, 'fork').waitFor();

    await toInput();
    await use(page, button(page, 'Edit state …'));
    const dialog = page.getByRole('dialog', { name: 'Edit state' });
    await reach(page, dialog.getByLabel('As node'));
    await page.keyboard.type('before');
    await write(page, dialog.getByRole('textbox', { name: 'Values' }), '{"x": 7}');
    await use(page, dialog.getByRole('button', { name: 'Write checkpoint' }));
    await selected(page, 'edited by hand').waitFor();

    await toInput();
    await use(page, button(page, 'Re-run from here'));
    await page.getByText('The run has started').waitFor();

    const expected = await forkEditAndRerun(studio.client, bySdk);
    await expect.poll(() => historyOf(studio.client, inPage)).toBe(expected);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test.each([
    ['text', 'Yes, do', 'Yes, do'],
    ['JSON', '{"ok": [true, 1.5, null, "ä"]}', { ok: [true, 1.5, null, 'ä'] }],
  ])('a question is answered with %s, as the same call by the SDK does', async (_, typed, resume) => {
    const [inPage, bySdk] = await Promise.all([waiting(), waiting()]);
    const { page, problems } = await openStudio(
      studio.browser,
      studio.origin,
      `/chat/interrupting/${inPage}`,
    );
    await write(page, page.getByLabel(/^Answer/), typed);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Question from the agent' }).waitFor({ state: 'detached' });

    const [asked] = (await studio.client.threads.getState(bySdk)).tasks.flatMap(
      ({ interrupts }) => interrupts,
    );
    await studio.client.runs.wait(bySdk, 'interrupting', {
      command: { resume: { [asked?.id ?? '']: resume } },
    });
    const expected = await historyOf(studio.client, bySdk);
    expect(expected).toContain(JSON.stringify(`b:${JSON.stringify(resume)}`));
    await expect.poll(() => historyOf(studio.client, inPage)).toBe(expected);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test(
    'a tool of a graph is executed alone',
    async () => {
      await readSchemas(studio.origin, ['alone']);
      const { page, problems } = await openStudio(studio.browser, studio.origin, '');
      const screens = page.getByRole('navigation', { name: 'Screens' });
      await use(page, screens.getByRole('link', { name: 'Graphs' }));
      await use(
        page,
        main(page)
          .getByRole('link', { name: /^alone/ })
          .first(),
      );
      await use(page, node(page, 'tools'));
      await use(page, button(page, /^Run this node/));
      const dialog = page.getByRole('dialog');
      await write(page, dialog.getByLabel(/^A: The first one/), '4');
      await write(page, dialog.getByRole('textbox', { name: 'B', exact: true }), '38');
      await use(page, dialog.getByRole('button', { name: /^Run/ }));
      await dialog.getByRole('region', { name: 'Result' }).getByText('42', { exact: true }).waitFor();
      await use(page, dialog.getByRole('link', { name: 'Open run' }));
      await page.waitForURL(/\/runs\//);
      expect(problems).toEqual([]);
      await page.context().close();
    },
    PREPARATION_MS,
  );

  /** A thread that waits for an answer. */
  async function waiting(): Promise<string> {
    const { thread_id } = await studio.client.threads.create();
    await studio.client.runs.wait(thread_id, 'interrupting', { input: { x: 1 } });
    return thread_id;
  }

  test('in a chat messages are sent, edited and answered again; versions are switched', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await chatWith(page, 'chat');
    await say(page, 'One');
    await says(page, 'You said: One');
    await use(page, button(page, 'Edit').last());
    await write(page, page.getByLabel('Edit message'), 'Two');
    await page.keyboard.press('Enter');
    await says(page, 'You said: Two');
    const versions = page.getByRole('navigation', { name: 'Versions of this message' });
    await versions.getByText('2/2').waitFor();

    await use(page, versions.getByRole('link', { name: 'Earlier version' }));
    await says(page, 'You said: One');
    await use(page, versions.getByRole('link', { name: 'Later version' }));
    await says(page, 'You said: Two');
    await use(page, button(page, 'Regenerate').last());
    await until('two runs answer the second text', async () => {
      const runs = await studio.client.runs.list(threadOf(page));
      return runs.length === 3 && runs.every(({ status }) => status === 'success');
    });
    await page.getByRole('article', { name: 'Assistant' }).getByText('2/2').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an answer is stopped in the middle', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await chatWith(page, 'tokens');
    await use(page, button(page, 'All fields'));
    await write(page, page.getByLabel('Count'), '2000');
    await write(page, page.getByLabel('Token ms'), '25');
    await page.keyboard.press('Control+Enter');
    await says(page, 't0 t1 t2');
    await use(page, button(page, 'Stop'));
    await button(page, 'Stop').waitFor({ state: 'detached' });
    expect((await studio.client.runs.list(threadOf(page)))[0]?.status).toBe('interrupted');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  /** From the first page to another screen. */
  const goTo = (page: Page, screen: string) =>
    use(page, page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: screen }));

  test('an item of the store is created, looked at, changed and deleted', async () => {
    const value = async () => (await studio.client.store.getItem(['shop'], 'monday'))?.value;
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await goTo(page, 'Store');
    await use(page, button(page, 'New item'));
    const dialog = page.getByRole('dialog');
    await write(page, dialog.getByLabel('Namespace (labels separated by dots)'), 'shop');
    await write(page, dialog.getByLabel('Key'), 'monday');
    await write(page, dialog.getByLabel('Value as JSON'), '{"from": 9}');
    await use(page, dialog.getByRole('button', { name: 'Save' }));
    await use(page, main(page).getByRole('link', { name: 'monday' }));
    expect(await value()).toEqual({ from: 9 });

    await use(page, dialog.getByRole('button', { name: 'Edit' }));
    await write(page, dialog.getByLabel('Value as JSON'), '{"from": 10}');
    await use(page, dialog.getByRole('button', { name: 'Save' }));
    await page.getByRole('figure', { name: 'Value' }).getByText('10').waitFor();
    expect(await value()).toEqual({ from: 10 });

    await page.keyboard.press('Escape');
    await use(page, page.getByLabel('Select monday'), 'Space');
    await use(page, button(page, 'Delete'));
    await use(page, dialog.getByRole('button', { name: 'Delete' }));
    await page.getByText('No items').waitFor();
    expect(await value()).toBeUndefined();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a failed delivery is found and sent again', async () => {
    await using hook = await receiver();
    hook.answers.push(410);
    await studio.http.post('/webhooks/test', { url: `${hook.url}/orders` });
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await goTo(page, 'Webhooks');
    await use(page, main(page).locator('a[href*="/webhooks/"]').first());
    await page.getByText(/^Given up/).waitFor();
    await use(page, button(page, 'Redeliver'));
    await page.getByText('delivered', { exact: true }).waitFor();
    expect(hook.received.map(({ path }) => path)).toEqual(['/orders', '/orders']);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a run is started again with another input', async () => {
    const { thread_id } = await studio.client.threads.create();
    await studio.client.runs.wait(thread_id, 'echo', { input: { x: 1 } });
    const [{ run_id = '' } = {}] = await studio.client.runs.list(thread_id);
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await goTo(page, 'Runs');
    await use(page, main(page).locator(`a[href$="${run_id}"]`).first());
    await use(page, button(page, 'Re-run with changes'));
    await write(page, page.getByRole('textbox', { name: 'Input' }), '{"x": 7}');
    await use(page, button(page, 'Start run'));
    await page.waitForURL((url) => url.pathname.includes('/runs/') && !url.pathname.endsWith(run_id));
    const again = await studio.http.get(`/runs/${page.url().split('/').at(-1)}/explain`);
    await studio.client.runs.join(again.body.thread_id, again.body.run_id);
    expect((await studio.client.threads.getState(again.body.thread_id)).values).toMatchObject({ x: 7 });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('two versions of an assistant answer the same input', async () => {
    const { assistant_id } = await studio.client.assistants.create({ graphId: 'echo', name: 'Of two' });
    await studio.client.assistants.update(assistant_id, { metadata: { second: true } });
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await goTo(page, 'Assistants');
    await use(page, main(page).getByRole('link', { name: 'Of two' }));
    await use(page, page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Try' }));
    await use(page, button(page, 'As JSON'));
    await write(page, page.getByLabel('Input as JSON'), '{"x": 7}');
    await page.keyboard.press('Control+Enter');
    for (const side of ['left', 'right'])
      await page
        .getByRole('region', { name: `Answer of the ${side} version` })
        .getByText('a:7')
        .waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
