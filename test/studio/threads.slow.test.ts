import { readFile } from 'node:fs/promises';
import { Client } from '@langchain/langgraph-sdk';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';

/** Counts in a page how often it hears of changes. */
const COUNT_CHANGES = `
  globalThis.changesHeard = 0;
  globalThis.EventSource = class extends EventSource {
    constructor(...args) {
      super(...args);
      this.addEventListener('changes', () => { changesHeard += 1; });
    }
  };
`;

describe.runIf(hasStudio)('the list of threads in Studio (needs Debian package chromium)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let browser: Browser;
  let origin: string;
  let client: Client;

  beforeAll(async () => {
    [http, browser] = await Promise.all([
      openApp({ graphs: ['echo', 'chat', 'interrupting', 'sleeper'] }),
      openBrowser(),
    ]);
    origin = new URL((await http.app.listen()).url).origin;
    client = new Client({ apiUrl: origin });
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
  });

  const named = async (title: string, metadata: object = {}) =>
    (await client.threads.create({ metadata: { title, ...metadata } })).thread_id;
  const rows = (page: Page) => page.locator('tbody tr');

  test('shows names and never requests values, and has its filters in the address', async () => {
    const { thread_id: asked } = await client.threads.create();
    const input = { messages: [{ role: 'user', content: 'How long is a chain?' }] };
    await client.runs.wait(asked, 'chat', { input });
    const lunch = await named('Lunch', { team: 'ham & eggs', floor: 3 });
    await named('Dinner', { team: 'fish', floor: 3 });

    const { page, problems } = await openStudio(browser, origin, '/threads');
    const answers: unknown[] = [];
    page.on('response', async (response) => {
      if (!response.url().endsWith('/threads/search')) return;
      // What the page has left behind cannot be read any more.
      answers.push(...(await response.json().catch(() => [])));
    });
    await rows(page).filter({ hasText: 'How long is a chain?' }).getByText('chat').waitFor();

    await page.getByLabel('Metadata').fill('team=ham & eggs, floor=3');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows(page).allInnerTexts()).toEqual([expect.stringContaining('Lunch')]);
    expect(new URL(page.url()).searchParams.get('metadata')).toBe('team=ham & eggs, floor=3');
    await page.reload();
    await rows(page).getByText('Lunch').waitFor();
    expect(await rows(page).count()).toBe(1);
    await expect.poll(() => answers.length).toBeGreaterThan(0);
    expect(answers.every((each) => !Object.hasOwn(each as object, 'values'))).toBe(true);

    await page.goto(`${origin}/studio/threads`);
    const { thread_id: counted } = await client.threads.create();
    await client.runs.wait(counted, 'echo', { input: { x: 17 } });
    await page.getByLabel('Values').fill('x=17');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows(page).allInnerTexts()).toEqual([expect.stringContaining(counted)]);
    await page.getByLabel('Values').fill('');
    await page.keyboard.press('Enter');

    await page.getByLabel('Metadata').fill('nonsense');
    await page.keyboard.press('Enter');
    await page.getByText('Enter name=value instead of “nonsense”.').waitFor();
    await page.getByLabel('Metadata').fill('');
    await page.keyboard.press('Enter');
    for (const wanted of [lunch, 'Lunch', 'unc']) {
      await page.getByLabel('Thread id or words from the title').fill(wanted);
      await page.keyboard.press('Enter');
      await expect.poll(() => rows(page).allInnerTexts()).toEqual([expect.stringContaining('Lunch')]);
    }
    await page.getByLabel('Thread id or words from the title').fill('Breakfast');
    await page.keyboard.press('Enter');
    await page.getByText('No matching threads').waitFor();
    expect(problems).toEqual([]);
  });

  test('finds threads by status, assistant and owner, and sorts them by creation or change', async () => {
    const team = { team: 'sorted' };
    const owned = { ...team, owner: 'ana' };
    const titles = (page: Page) => rows(page).locator('a > bdi:first-child').allInnerTexts();
    const shows = (page: Page, ...expected: string[]) => expect.poll(() => titles(page)).toEqual(expected);
    const asked = await named('Asked', team);
    await client.runs.wait(asked, 'interrupting', { input: { x: 1 } });
    const counted = await named('Counted', owned);
    await client.runs.wait(counted, 'echo', { input: { x: 1 } });
    await named('New', { team: 'sorted', owner: 'bob' });
    await client.threads.update(asked, { metadata: { seen: true } });

    const { page, problems } = await openStudio(browser, origin, '/threads?metadata=team%3Dsorted');
    await shows(page, 'Asked', 'New', 'Counted');
    const sort = (name: string) =>
      page.getByRole('columnheader', { name }).getByRole('button').press('Enter');
    await sort('Created');
    await shows(page, 'New', 'Counted', 'Asked');
    await sort('Created');
    await shows(page, 'Asked', 'Counted', 'New');
    expect(new URL(page.url()).search).toContain('sort=created_at&order=asc');
    await page.reload();
    await shows(page, 'Asked', 'Counted', 'New');
    expect(await page.locator('th[aria-sort=ascending]').innerText()).toMatch(/^Created/);
    expect(await violations(page)).toEqual([]);
    await sort('Updated');
    await shows(page, 'Asked', 'New', 'Counted');

    const choose = (name: string, option: string) =>
      page.getByLabel(name, { exact: true }).selectOption(option);
    await choose('Status', 'interrupted');
    await shows(page, 'Asked');
    expect(new URL(page.url()).searchParams.get('status')).toBe('interrupted');
    await choose('Status', 'Any status');
    await choose('Assistant', 'echo');
    await shows(page, 'Counted');
    await choose('Assistant', 'Any assistant');
    await shows(page, 'Asked', 'New', 'Counted');
    await page.getByLabel('Owner').fill('ana');
    await page.getByLabel('Owner').press('Enter');
    await shows(page, 'Counted');
    expect(new URL(page.url()).searchParams.get('owner')).toBe('ana');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('changes that arrive faster than responses hide neither new nor older threads', async () => {
    const team = { team: 'steady' };
    const [first = ''] = await Promise.all(Array.from({ length: 60 }, (_, n) => named(`Number ${n}`, team)));
    const other = await named('Of another team');
    const { page, problems } = await openStudio(browser, origin, '/runs');
    await page.addInitScript(COUNT_CHANGES);
    await page.goto(`${origin}/studio/threads?metadata=team%3Dsteady`);
    await expect.poll(() => rows(page).count()).toBe(50);
    const heard = () => page.evaluate<number>('changesHeard');
    // Each page of the list is answered when the page has heard of a further change.
    await page.route('**/threads/search', async (route) => {
      if (route.request().postDataJSON().cursor !== undefined) {
        const before = await heard();
        await client.threads.update(other, { metadata: { before } });
        await expect.poll(heard).toBeGreaterThan(before);
      }
      await route.continue();
    });
    await client.threads.update(first, { metadata: { title: 'Renamed' } });
    await rows(page).getByText('Renamed').waitFor();
    await page.getByRole('button', { name: 'Show older threads' }).click();
    await expect.poll(() => rows(page).count()).toBe(60);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('cancels, copies, prunes and deletes selected threads, by keyboard too', async () => {
    const team = { team: 'bulk' };
    const [first, second] = [await named('One', team), await named('Two', team)];
    const { run_id } = await client.runs.create(first, 'sleeper', { input: { ms: 60_000 } });
    await client.runs.wait(second, 'echo', { input: { x: 1 } });

    const { page, problems } = await openStudio(browser, origin, '/threads?metadata=team%3Dbulk');
    await page.getByLabel('Select all shown threads').press('Space');
    await page.getByText('2 threads selected').waitFor();
    await page.getByRole('button', { name: 'Cancel runs' }).press('Enter');
    await page.getByText('Cancelling 1 run.').waitFor();
    await client.runs.join(first, run_id).catch(() => undefined);
    expect((await client.runs.get(first, run_id)).status).toBe('interrupted');

    await page.getByRole('button', { name: 'Prune …' }).click();
    await page.getByRole('button', { name: 'Prune', exact: true }).click();
    await page.getByText('Pruned 2 threads.').waitFor();
    expect(await client.threads.getHistory(second)).toHaveLength(1);

    // Leaves the second.
    await page.getByLabel('Select One').uncheck();
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Created 1 copy.').waitFor();
    await expect.poll(() => rows(page).count()).toBe(3);

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export JSON' }).click();
    expect((await download).suggestedFilename()).toBe('threads.json');
    const exported = JSON.parse(await readFile(await (await download).path(), 'utf8'));
    expect(exported).toEqual([await client.threads.get(second)]);
    expect(exported[0]).toMatchObject({ metadata: { title: 'Two' }, values: { x: 1 } });

    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('dialog').getByText('Delete 1 thread?').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('Deleted 1 thread.').waitFor();
    await expect.poll(() => rows(page).count()).toBe(2);
    await expect(client.threads.get(second)).rejects.toThrow('404');
    expect(problems).toEqual([]);
  });

  test('continues after its first page without gaps while threads are added, with their sizes', async () => {
    const team = { team: 'paged' };
    for (let n = 1; n <= 53; n++) await named(`Number ${n}`, team);
    await client.runs.wait(await named('Large', team), 'echo', { input: { x: 'x'.repeat(3000) } });
    const { page, problems } = await openStudio(browser, origin, '/threads?metadata=team%3Dpaged');
    await rows(page).filter({ hasText: 'Large' }).getByText(/ kB$/).waitFor();
    expect(await rows(page).count()).toBe(50);

    // The page is told nothing of this one: what it adds would shift pages by number.
    await page.route('**/system/changes', (route) => route.abort());
    await named('Added', team);
    await page.getByRole('button', { name: 'Show older threads' }).press('Enter');
    await rows(page).getByText('Number 1', { exact: true }).waitFor();
    const titles = await rows(page).locator('a > bdi').allInnerTexts();
    for (let n = 1; n <= 53; n++) expect(titles.filter((title) => title === `Number ${n}`)).toHaveLength(1);
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('changes of another client appear at once, and the page is accessible in both themes', async () => {
    const { page, problems } = await openStudio(browser, origin, '/threads?metadata=team%3Dlive');
    await page.getByText('No matching threads').waitFor();
    const thread_id = await named('Begun', { team: 'live' });
    await rows(page).getByText('Begun').waitFor();
    await client.threads.update(thread_id, { metadata: { title: 'Renamed' } });
    await rows(page).getByText('Renamed').waitFor();

    const { thread_id: unnamed } = await client.threads.create({ metadata: { team: 'live' } });
    await rows(page).getByText(unnamed).waitFor();
    const input = { messages: [{ role: 'user', content: 'How wide is a river?' }] };
    await client.runs.wait(unnamed, 'chat', { input });
    await rows(page).getByText('How wide is a river?').waitFor();

    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
