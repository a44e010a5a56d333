import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';

describe.runIf(hasStudio)('moving between runs in Studio (needs Debian package chromium)', () => {
  const studio = useStudioServer(['fails', 'nested']);

  async function ended(assistant: string, input: Record<string, unknown>) {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, assistant, { input });
    await studio.client.runs.join(thread_id, run_id);
    return { run_id };
  }

  test('runs are filtered by assistant and error text, and opening another run shows nothing of the previous one', async () => {
    const failed = await ended('fails', { x: 41 });
    await ended('fails', { x: 42 });
    const other = await ended('nested', {});
    const { page, problems } = await openStudio(studio.browser, studio.origin, '/runs');
    const found = page.getByRole('table', { name: 'Runs' }).getByRole('row');
    await found.filter({ hasText: 'nested' }).first().waitFor();
    await page.getByLabel('Assistant').selectOption('fails');
    await found.filter({ hasText: 'nested' }).first().waitFor({ state: 'detached' });
    await found.filter({ hasText: 'boom 42' }).waitFor();
    await page.getByLabel('Error contains').fill('BOOM 41');
    await page.getByLabel('Error contains').press('Enter');
    await found.filter({ hasText: 'boom 42' }).waitFor({ state: 'detached' });
    await expect.poll(() => found.count()).toBe(2);
    await found.getByRole('link').first().press('Enter');
    await page.waitForURL(`**/runs/${failed.run_id}`);
    await page.getByText('boom 41').first().waitFor();

    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(other.run_id);
    await page.keyboard.press('Enter');
    await page.getByText(other.run_id, { exact: true }).waitFor();
    await page
      .getByRole('region', { name: 'Steps' })
      .getByRole('button', { name: /^first/ })
      .waitFor();
    expect(
      await page
        .getByRole('main')
        .getByText(/boom|throws|works/)
        .count(),
    ).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
