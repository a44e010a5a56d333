import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';
import { forkEditAndRerun, historyOf, inputCheckpoint } from '../support/thread-history.ts';

describe.runIf(hasStudio)('a thread in Studio (needs Debian package chromium)', () => {
  const studio = useStudioServer(['interrupting', 'ten-steps', 'fails']);

  /** A thread that waits for an answer, after the steps `input` and `before`. */
  async function waiting(metadata: Record<string, unknown> = {}): Promise<string> {
    const { thread_id } = await studio.client.threads.create({ metadata });
    await studio.client.runs.wait(thread_id, 'interrupting', { input: { x: 1 } });
    return thread_id;
  }

  const tree = (page: Page) => page.getByRole('listbox', { name: 'Checkpoints' });
  const row = (page: Page, name: string) => tree(page).getByRole('option').filter({ hasText: name });
  const selected = (page: Page, name: string) => row(page, name).and(page.locator('[aria-selected=true]'));
  const changes = (page: Page) => page.getByRole('region', { name: 'Changes' });
  const line = (page: Page, text: string) => changes(page).locator('p', { hasText: text });

  test('shows what each step changed; the selection is in the address, and arrow keys move it', async () => {
    const thread_id = await waiting({ title: 'Lunch' });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/threads/${thread_id}`);
    await page.getByRole('heading', { name: 'Lunch', level: 1 }).waitFor();
    await row(page, 'waiting at ask').waitFor();
    await changes(page).getByText('"a:1"').waitFor();
    await changes(page).getByText('x unchanged').waitFor();
    await page.getByText('ask is waiting for an answer').waitFor();

    await tree(page).press('ArrowDown');
    await line(page, '+ 1').waitFor();
    const input = await inputCheckpoint(studio.client, thread_id);
    expect(new URL(page.url()).searchParams.get('checkpoint')).toBe(input);
    await page.reload();
    await selected(page, 'input').waitFor();

    // Against another than the parent.
    await tree(page).press('Home');
    await page.getByRole('button', { name: 'Compare with …' }).click();
    await row(page, 'start of a run').click();
    await page.getByText('compared with step -1').waitFor();
    await page.getByText('2 of 2 channels changed').waitFor();

    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('forks, edits and runs again as the same calls by the SDK do', async () => {
    const [inPage, bySdk] = [await waiting(), await waiting()];
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/threads/${inPage}`);

    await row(page, 'input').click();
    await page.getByRole('button', { name: 'Fork from here' }).click();
    await selected(page, 'fork').waitFor();

    await row(page, 'input').click();
    await page.getByRole('button', { name: 'Edit state …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit state' });
    await dialog.getByLabel('As node').selectOption('before');
    const values = dialog.getByRole('textbox', { name: 'Values' });
    await values.fill('{"x": }');
    await dialog.getByRole('status').getByText('JSON').waitFor();
    expect(await dialog.getByRole('button', { name: 'Write checkpoint' }).isDisabled()).toBe(true);
    await values.fill('{"x": 7}');
    await dialog.getByRole('button', { name: 'x', exact: true }).click();
    await dialog.getByText('"x": 1').waitFor();
    await values.fill('{"x": 7}');
    await dialog.getByRole('button', { name: 'Write checkpoint' }).click();
    await selected(page, 'edited by hand').waitFor();
    await line(page, '+ 7').waitFor();

    await row(page, 'input').click();
    await page.getByRole('button', { name: 'Re-run from here' }).click();
    await page.getByRole('link', { name: 'The run has started' }).waitFor();
    await row(page, 'waiting at ask').waitFor();
    await row(page, 'branch end').first().waitFor();

    const expected = await forkEditAndRerun(studio.client, bySdk);
    await expect.poll(() => historyOf(studio.client, inPage)).toBe(expected);
    expect(problems).toEqual([]);
  });

  test('shows changes by another client at once, and errors of the server', async () => {
    const thread_id = await waiting();
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/threads/${thread_id}`);
    await row(page, 'waiting at ask').waitFor();
    await studio.client.threads.updateState(thread_id, { values: { x: 5 }, asNode: 'before' });
    await row(page, 'edited by hand').waitFor();
    await line(page, '+ 5').waitFor();

    await page.getByRole('button', { name: 'Edit state …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit state' });
    await dialog.getByLabel('As node').selectOption('before');
    await dialog.getByRole('textbox', { name: 'Values' }).fill('[1]');
    await dialog.getByRole('button', { name: 'Write checkpoint' }).click();
    await dialog.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');

    await studio.client.threads.delete(thread_id);
    await page.getByText(`Thread with ID ${thread_id} not found`).waitFor();
    expect(problems).toEqual([]);
  });

  test('is read-only for a session that may only read', async () => {
    const environment = { AGENT_SERVER_API_KEYS: 'operator' };
    await using locked = await openApp({ graphs: ['interrupting'], environment });
    const locks = new URL((await locked.app.listen()).url).origin;
    const operator = { 'x-api-key': 'operator' };
    const { thread_id } = (await locked.post('/threads', {}, operator)).body;
    const input = { assistant_id: 'interrupting', input: { x: 1 } };
    await locked.post(`/threads/${thread_id}/runs/wait`, input, operator);
    const { key } = (await locked.post('/keys', { name: 'reader', scope: 'read' }, operator)).body;

    const { page, problems } = await openStudio(studio.browser, locks, `/threads/${thread_id}`);
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await row(page, 'waiting at ask').waitFor();
    await line(page, '"a:1"').waitFor();
    const buttons = await page.getByRole('main').getByRole('button').allInnerTexts();
    expect(buttons).toEqual(['Export', 'Compare with …', 'Copy']);
    expect(problems).toEqual([]);
  });

  test('can be renamed, copied and deleted, and shows its runs, state, metadata and storage', async () => {
    const thread_id = await waiting({ team: 'kitchen' });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/threads/${thread_id}`);
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('Title').fill('Soup');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Soup', level: 1 }).waitFor();
    expect((await studio.client.threads.get(thread_id)).metadata).toMatchObject({
      title: 'Soup',
      team: 'kitchen',
    });

    const tabs = page.getByRole('navigation', { name: 'Views' });
    await tabs.getByRole('link', { name: 'Runs' }).click();
    await page
      .getByRole('main')
      .getByRole('link', { name: /^interrupting/ })
      .waitFor();
    await tabs.getByRole('link', { name: 'State' }).click();
    await page.getByRole('figure', { name: 'Newest values' }).getByText('"a:1"').waitFor();
    await tabs.getByRole('link', { name: 'Metadata' }).click();
    await page.getByRole('figure', { name: 'Metadata' }).getByText('kitchen').waitFor();
    await tabs.getByRole('link', { name: 'Storage' }).click();
    await page.getByRole('row', { name: /^log/ }).waitFor();

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    expect((await download).suggestedFilename()).toBe(`thread-${thread_id}.json`);
    const exported = JSON.parse(await readFile(await (await download).path(), 'utf8'));
    expect(exported).toMatchObject({ thread_id, metadata: { title: 'Soup', team: 'kitchen' } });
    expect(exported.history).toEqual(await studio.client.threads.getHistory(thread_id));
    expect(exported.history.length).toBeGreaterThan(1);

    await page.getByRole('button', { name: 'Copy thread' }).click();
    await page.waitForURL(
      (url) => /\/threads\/[\da-f-]{36}$/.test(url.pathname) && !url.href.includes(thread_id),
    );
    await row(page, 'waiting at ask').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/\/studio\/threads$/);
    await page.getByRole('link', { name: /^Soup/ }).waitFor();
    expect(problems).toEqual([]);
  });

  test('renders only the visible rows of a long history', async () => {
    const { thread_id } = await studio.client.threads.create();
    for (let n = 0; n < 20; n++) await studio.client.runs.wait(thread_id, 'ten-steps', { input: { n: 0 } });
    const { page } = await openStudio(studio.browser, studio.origin, `/threads/${thread_id}`);
    await page.getByText(/^Checkpoints 2[34]0$/).waitFor();
    await row(page, 'step').first().waitFor();
    expect(await tree(page).getByRole('option').count()).toBeLessThan(50);
    // The second page is loaded on the way.
    const oldest = async () => {
      await tree(page).press('End');
      return tree(page).getByRole('option').last().innerText();
    };
    await expect.poll(oldest).toContain('start of a run');
  });
});
