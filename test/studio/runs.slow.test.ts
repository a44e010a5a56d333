import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const HOUR_MS = 3_600_000;

describe.runIf(hasStudio)('the list of runs in Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['echo', 'interrupting', 'fails']);

  test('each run links to its thread', async () => {
    const { client } = studio;
    const { thread_id } = await client.threads.create({ metadata: { title: 'Order 118' } });
    await client.runs.wait(thread_id, 'echo', { input: { x: 1 } });
    const other = await client.threads.create();
    await client.runs.wait(other.thread_id, 'echo', { input: { x: 1 } });
    const { page } = await openStudio(studio.browser, studio.origin, '/runs');
    const found = page.getByRole('table', { name: 'Runs' });
    await found
      .getByRole('link', { name: other.thread_id.slice(0, 8), exact: false })
      .last()
      .waitFor();
    await found.getByRole('link', { name: 'Order 118' }).click();
    await page.waitForURL(`**/threads/${thread_id}`);
    await page.getByRole('heading', { name: 'Order 118' }).waitFor();
    await page.context().close();
    for (const id of [thread_id, other.thread_id]) await client.threads.delete(id);
  });

  test('a run that waits for a person is listed and found as waiting, and a failed one shows its error', async () => {
    const { client } = studio;
    const { thread_id } = await client.threads.create();
    for (const graph of ['fails', 'interrupting']) {
      const { run_id } = await client.runs.create(thread_id, graph, { input: { x: 7 } });
      await client.runs.join(thread_id, run_id).catch(() => {});
    }
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/runs');
    const table = page.getByRole('table', { name: 'Runs' });
    await table.getByRole('row', { name: /fails/ }).getByText('BoomError: boom 7').waitFor();
    expect(await table.getByRole('row', { name: /interrupting/ }).innerText()).toContain('waiting');
    expect(await violations(page)).toEqual([]);
    const status = page.getByLabel('Status');
    await status.selectOption('success');
    await page.getByText('No matching runs').waitFor();
    await status.selectOption('waiting');
    await table.getByRole('row', { name: /interrupting/ }).waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    await page.goto(`${studio.origin}/studio/threads/${thread_id}?tab=runs`);
    expect(await table.getByRole('row', { name: /interrupting/ }).innerText()).toContain('waiting');
    expect(problems).toEqual([]);
    await page.context().close();
    await client.threads.delete(thread_id);
  });

  test('a stateless run that has ended is listed with its error, and links to nothing that is deleted', async () => {
    await studio.http.post('/runs/wait', { assistant_id: 'fails', input: { x: 9 } });
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/runs');
    const row = page.getByRole('table', { name: 'Runs' }).getByRole('row', { name: /BoomError: boom 9/ });
    for (const text of ['fails', 'error', 'deleted']) expect(await row.innerText()).toContain(text);
    expect(await row.getByRole('link').count()).toBe(0);
    expect(await row.getByRole('checkbox').count()).toBe(0);
    await page.goto(`${studio.origin}/studio/`);
    await row.waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('on a telephone the status of a run is in view next to its name, however long its error is', async () => {
    await studio.http.post('/runs/wait', { assistant_id: 'fails', input: { x: 'long '.repeat(50) } });
    const { page } = await openStudio(studio.browser, studio.origin, '');
    await page.setViewportSize({ width: 320, height: 640 });
    await page.goto(`${studio.origin}/studio/runs`);
    const status = page.getByRole('row', { name: /boom long/ }).getByText('error', { exact: true });
    const { x = 999, width = 0 } = (await status.boundingBox()) ?? {};
    expect(x + width).toBeLessThanOrEqual(320 - 16);
    await page.context().close();
  });

  test('a click anywhere on a row opens its run, with Ctrl in a new tab, and its link does so by keyboard', async () => {
    const { client } = studio;
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'echo', { input: { x: 1 } });
    await client.runs.join(thread_id, run_id);
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/runs');
    const row = page.getByRole('table', { name: 'Runs' }).getByRole('row', { name: /echo/ });
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      row.getByText('success').click({ modifiers: ['Control'] }),
    ]);
    await tab.waitForURL(`**/runs/${run_id}`);
    await tab.close();
    await row.getByText('success').click();
    await page.waitForURL(`**/runs/${run_id}`);
    await page.goBack();
    await row.getByRole('link', { name: /^echo/ }).press('Enter');
    await page.waitForURL(`**/runs/${run_id}`);
    expect(problems).toEqual([]);
    await page.context().close();
    await client.threads.delete(thread_id);
  });

  test('a column is resized by keyboard, keeps its width, and becomes automatic again', async () => {
    const { client } = studio;
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'echo', { input: { x: 1 } });
    const { page } = await openStudio(studio.browser, studio.origin, '/runs');
    const heading = page.getByRole('columnheader', { name: 'Status' });
    const edge = page.getByRole('separator', { name: 'Width of column 3' });
    const width = async () => Math.round((await heading.boundingBox())?.width ?? 0);
    await edge.waitFor();
    const before = await width();
    await edge.press('ArrowRight');
    expect(await width()).toBe(before + 16);
    await edge.press('ArrowRight');
    await page.reload();
    await edge.waitFor();
    expect(await width()).toBe(before + 32);
    expect(await edge.getAttribute('aria-valuenow')).toBe(String(before + 32));
    expect(await violations(page)).toEqual([]);
    await edge.press('Enter');
    expect(await edge.getAttribute('aria-valuetext')).toBe('Status: automatic');
    await page.context().close();
    await client.threads.delete(thread_id);
  });

  test('on a small screen, the filters are behind a button that counts those set', async () => {
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/runs?status=failed');
    await page.setViewportSize({ width: 390, height: 844 });
    const status = page.getByLabel('Status');
    const button = page.getByRole('button', { name: 'Filters (1)' });
    await button.waitFor();
    expect(await status.isVisible()).toBe(false);
    await button.click();
    await status.selectOption('');
    await page.getByRole('button', { name: 'Filters', exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('runs are found by metadata of their threads and by age, and the filters are in the address', async () => {
    const start = Date.now();
    const run = async (team: string) => {
      const { thread_id } = await studio.client.threads.create({ metadata: { team } });
      const { run_id } = await studio.client.runs.create(thread_id, 'echo', { input: { x: 1 } });
      await studio.client.runs.join(thread_id, run_id);
      return run_id;
    };
    const [ham, fish] = [await run('ham & eggs'), await run('fish')];
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/runs');
    const shows = (...ids: string[]) =>
      expect
        .poll(async () => {
          const links = await page.locator('tbody a[href*="/runs/"]').all();
          return Promise.all(links.map(async (link) => (await link.getAttribute('href'))?.split('/').at(-1)));
        })
        .toEqual(ids);
    await shows(fish, ham);
    expect(await violations(page)).toEqual([]);
    const metadata = page.getByLabel('Metadata of the thread');
    await metadata.fill('team=ham & eggs');
    await metadata.press('Enter');
    await shows(ham);
    expect(new URL(page.url()).searchParams.get('metadata')).toBe('team=ham & eggs');
    await metadata.fill('nonsense');
    await metadata.press('Enter');
    await page.getByText('Enter name=value instead of “nonsense”.').waitFor();
    await metadata.fill('');
    await metadata.press('Enter');
    await shows(fish, ham);

    const period = page.getByLabel('Period');
    await period.selectOption('Ended in the last hour');
    await shows(fish, ham);
    await period.selectOption('Created over an hour ago');
    await page.getByText('No matching runs').waitFor();
    // Two hours later.
    await page.clock.setFixedTime(start + 2 * HOUR_MS);
    await page.reload();
    await shows(fish, ham);
    expect(await period.inputValue()).toBe('until=1');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
