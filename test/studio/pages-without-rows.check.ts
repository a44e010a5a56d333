import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';

describe.runIf(hasStudio)('lists of Studio with empty pages (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['asks']);

  test.each([
    ['/runs?error=odd', 'runs', '**/runs/search', 'No matching runs'],
    ['/threads?owner=ana', 'threads', '**/threads/search', 'No matching threads'],
    ['/inbox?tab=answered', 'answers', '**/interrupts/answers/search', 'No answers yet'],
  ])('%s continues after a first page without a row', async (path, what, url, none) => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    // As where the server has examined the newest of a million.
    await page.route(url, (route) => {
      const { cursor } = route.request().postDataJSON();
      const isLast = cursor === 'further';
      return route.fulfill({ json: [], headers: isLast ? {} : { 'X-Pagination-Next': 'further' } });
    });
    await page.goto(`${studio.origin}/studio${path}`);
    await page.getByText('No matches so far').waitFor();
    await page.getByRole('button', { name: `Show older ${what}` }).click();
    await page.getByText(none).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('conversations are listed after a page of threads without runs', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await page.getByRole('link', { name: 'Chat', exact: true }).first().click();
    await page.getByText('Choose an assistant to start one.').waitFor();
    const { thread_id } = await studio.client.threads.create({ metadata: { title: 'Lunch' } });
    await studio.client.runs.wait(thread_id, 'asks', { input: { ask: 'Soup?' } });
    for (let n = 0; n < 25; n++) await studio.client.threads.create();
    await page.reload();
    await page.getByRole('link', { name: /^Lunch/ }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
