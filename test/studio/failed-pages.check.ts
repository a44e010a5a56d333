import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';

describe.runIf(hasStudio)('failing next pages in Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['asks']);

  test.each([
    ['/runs', '**/runs/search', 'Show older runs', 'table'],
    ['/threads', '**/threads/search', 'Show older threads', 'table'],
    ['/inbox', '**/interrupts/search', 'Show more', 'list'],
  ] as const)('%s keeps its rows and offers a retry', async (path, url, more, role) => {
    const { thread_id } = await studio.client.threads.create();
    await studio.client.runs.wait(thread_id, 'asks', { input: { ask: 'Soup?' } });
    const { page } = await openStudio(studio.browser, studio.origin, '');
    let isBroken = true;
    await page.route(url, async (route) => {
      const { cursor } = route.request().postDataJSON();
      if (cursor === 'further' && isBroken)
        return route.fulfill({ status: 422, json: { detail: 'The cursor has expired.' } });
      if (cursor === 'further') return route.fulfill({ json: [] });
      const response = await route.fetch();
      return route.fulfill({ response, headers: { ...response.headers(), 'x-pagination-next': 'further' } });
    });
    await page.goto(`${studio.origin}/studio${path}`);
    const links = page.locator('#main').getByRole(role).getByRole('link');
    await links.first().waitFor();
    await page.getByRole('button', { name: more, exact: true }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'The cursor has expired.' });
    await alert.waitFor();
    expect(await links.count()).toBeGreaterThan(0);
    isBroken = false;
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: more, exact: true }).waitFor({ state: 'detached' });
    expect(await links.count()).toBeGreaterThan(0);
    // A refetch may still be answered by the route.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.context().close();
  });

  test('a namespace of the store keeps its items and offers a retry', async () => {
    for (let n = 0; n < 101; n++) await studio.client.store.putItem(['notes'], `note-${n}`, { n });
    const { page } = await openStudio(studio.browser, studio.origin, '');
    let isBroken = true;
    await page.route('**/store/items/search', (route) =>
      isBroken && route.request().postDataJSON().offset > 0
        ? route.fulfill({ status: 422, json: { detail: 'This offset is refused.' } })
        : route.continue(),
    );
    await page.goto(`${studio.origin}/studio/store`);
    const rows = page.getByRole('table', { name: 'Items' }).getByRole('row');
    await rows.nth(1).waitFor();
    const first = await rows.count();
    await page.getByRole('button', { name: 'Show more items' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'This offset is refused.' });
    await alert.waitFor();
    expect(await rows.count()).toBe(first);
    isBroken = false;
    await alert.getByRole('button', { name: 'Try again' }).click();
    await rows.nth(first).waitFor();
    expect(await alert.count()).toBe(0);
    await page.context().close();
  });

  test('explanations show their times in local time', async () => {
    const { cron_id, next_run_date } = await studio.client.crons.create('asks', {
      schedule: '0 8 * * *',
      input: { ask: 'Soup?' },
    });
    const { page } = await openStudio(studio.browser, studio.origin, `/crons/${cron_id}`);
    const local = await page.evaluate(`new Date(${JSON.stringify(next_run_date)}).toLocaleString()`);
    await page.getByText(`Fires next at ${local} (schedule "0 8 * * *"`).waitFor();
    await page.context().close();
  });
});
