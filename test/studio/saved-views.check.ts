import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';
const COLLEAGUE = 'a-colleague';

describe.runIf(hasStudio)('saved views of Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['echo'], {
    environment: { AGENT_SERVER_API_KEYS: `${OPERATOR},${COLLEAGUE}` },
  });
  const post = (path: string, body: object) => studio.http.post(path, body, { 'x-api-key': OPERATOR });

  async function open(path: string, key = OPERATOR) {
    const opened = await openStudio(studio.browser, studio.origin, path);
    await signIn(opened.page, key);
    return opened;
  }

  /** As the address has them: the router quotes texts that look like numbers. */
  const filtersOf = (url: string) =>
    new Map([...new URL(url).searchParams].map(([name, value]) => [name, value.replaceAll('"', '')]));
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Saved views' });
  const views = (page: Page) => dialog(page).getByRole('list', { name: 'Saved views' }).getByRole('listitem');
  const openViews = (page: Page) => page.getByRole('button', { name: 'Views …' }).press('Enter');

  async function save(page: Page, name: string): Promise<void> {
    await openViews(page);
    await dialog(page).getByLabel('Name for the current filters').fill(name);
    await page.keyboard.press('Enter');
    await views(page).filter({ hasText: name }).waitFor();
  }

  test.each([
    [
      'threads',
      '?status=error&metadata=team%3Dham&sort=created_at&order=asc',
      'Metadata, such as',
      'team=ham',
    ],
    ['runs', '?status=error&error=boom', 'Error contains', 'boom'],
    ['inbox', '?age=24&owner=ana', 'Owner', 'ana'],
  ])('filters of the %s are saved, opened, renamed and deleted', async (screen, search, field, value) => {
    const { page, problems } = await open(`/${screen}${search}`);
    await save(page, 'On call');
    expect(await violations(page)).toEqual([]);
    await page.goto(`${studio.origin}/studio/${screen}`);
    await openViews(page);
    await page.getByText('Set filters on the screen to save them as a view.').waitFor();
    await dialog(page).getByRole('link', { name: 'On call' }).press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel(field).inputValue()).toBe(value);
    expect(filtersOf(page.url())).toEqual(filtersOf(`http://localhost/${search}`));

    await openViews(page);
    await page.getByRole('button', { name: 'Rename On call' }).press('Enter');
    await dialog(page).getByLabel('New name of On call').fill('By night');
    await page.keyboard.press('Enter');
    await dialog(page).getByRole('link', { name: 'By night' }).waitFor();
    await views(page).filter({ hasText: 'On call' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete By night' }).press('Enter');
    await views(page).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('each caller has their own saved views, even in the view of a user', async () => {
    const { page, problems } = await open('/threads?status=error');
    await save(page, 'Of the operator');
    await page.evaluate(`fetch('${studio.origin}/studio/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ view_as: 'jane@example.com' }),
    })`);
    await page.goto(`${studio.origin}/studio/threads?status=busy`);
    await page.getByText('Seen as jane@example.com').waitFor();
    await save(page, 'Of Jane');
    expect(await views(page).count()).toBe(1);
    const { items } = (await post('/store/items/search', { namespace_prefix: ['jane@example%2Ecom'] })).body;
    expect(items).toMatchObject([{ key: 'Of Jane', value: { filters: { status: 'busy' } } }]);
    expect(problems).toEqual([]);
    await page.context().close();

    const colleague = await open('/threads?status=idle', COLLEAGUE);
    await save(colleague.page, 'Of the colleague');
    expect(await views(colleague.page).count()).toBe(1);
    await colleague.page.context().close();
  });

  test('a user without write access has no saved views', async () => {
    const { key } = (await post('/keys', { name: 'a reader', scope: 'read' })).body;
    const { page, problems } = await open('/threads', key);
    await page.getByText('No threads yet').waitFor();
    expect(await page.getByRole('button', { name: 'Views …' }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
