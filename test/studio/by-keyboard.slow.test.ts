import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { reach, use, write } from '../support/keyboard.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { forkEditAndRerun, historyOf } from '../support/thread-history.ts';
import { until } from '../support/until.ts';

describe.runIf(hasStudio)('the daily jobs by keyboard alone in Studio (needs Chromium and a build)', () => {
  const studio = useStudioServer(['chat', 'fails', 'interrupting', 'tokens']);

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

  test('an input is written, nodes light up, and why the run failed is found', async () => {
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

    await use(page, link(page, 'Open the run'));
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
    await page.getByText('The run has begun').waitFor();

    const expected = await forkEditAndRerun(studio.client, bySdk);
    await expect.poll(() => historyOf(studio.client, inPage), { timeout: 20_000 }).toBe(expected);
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
    await page.getByRole('region', { name: 'Question of the agent' }).waitFor({ state: 'detached' });

    const [asked] = (await studio.client.threads.getState(bySdk)).tasks.flatMap(
      ({ interrupts }) => interrupts,
    );
    await studio.client.runs.wait(bySdk, 'interrupting', {
      command: { resume: { [asked?.id ?? '']: resume } },
    });
    const expected = await historyOf(studio.client, bySdk);
    expect(expected).toContain(JSON.stringify(`b:${JSON.stringify(resume)}`));
    await expect.poll(() => historyOf(studio.client, inPage), { timeout: 20_000 }).toBe(expected);
    expect(problems).toEqual([]);
    await page.context().close();
  });

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
});
