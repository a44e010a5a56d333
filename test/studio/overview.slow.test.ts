import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';

describe.runIf(hasStudio)('the overview of Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['fails', 'interrupting']);

  test('each figure leads to what it counts', async () => {
    for (const graph of ['fails', 'interrupting']) {
      const { thread_id } = await studio.client.threads.create();
      const { run_id } = await studio.client.runs.create(thread_id, graph, { input: { x: 7 } });
      await studio.client.runs.join(thread_id, run_id).catch(() => {});
    }
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    const follow = (name: string) => page.getByRole('main').getByRole('link', { name, exact: true }).click();

    await follow('Failed in 24 hours');
    await page.getByRole('cell', { name: 'BoomError: boom 7' }).waitFor();
    expect(await page.getByRole('link', { name: /^interrupting/ }).count()).toBe(0);
    await page.goBack();
    await follow('Waiting for a person');
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.getByText('ok?').first().waitFor();
    await page.goBack();
    await follow('Running');
    await page.getByText('No run fits').waitFor();
    await page.goBack();
    await follow('Dead webhooks');
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    expect(await page.getByLabel('Status').inputValue()).toBe('dead');
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
