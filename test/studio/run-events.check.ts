import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { endedRun } from '../support/ended-run.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)('the events of a run in Studio (needs Debian package chromium)', () => {
  const studio = useStudioServer(['nested', 'tokens']);

  const rows = (page: Page) => page.getByRole('region', { name: 'Events' }).getByRole('button');
  const modesOf = (page: Page) => rows(page).locator('span:nth-child(2)').allInnerTexts();

  test('can be filtered, searched, read in full and saved', async () => {
    const { run_id } = await endedRun(studio.client, 'nested', {
      input: {},
      streamMode: ['updates', 'custom'],
      streamSubgraphs: true,
    });
    const { page, problems } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}?tab=events`);
    await page.getByText('6 events').waitFor();
    expect(await modesOf(page)).toEqual(['metadata', 'custom', 'updates', 'custom', 'updates', 'updates']);

    await page.getByRole('button', { name: 'updates 3' }).click();
    await page.getByText('3 of 6 events').waitFor();
    await page.getByLabel('Search events').fill('CHILD');
    await page.getByText('1 of 6 events').waitFor();
    await rows(page).click();
    await page.getByRole('heading', { name: 'custom child' }).waitFor();
    await page.reload();
    await page.getByText('1 of 6 events').waitFor();
    await page.getByRole('heading', { name: 'custom child' }).waitFor();
    expect(await violations(page)).toEqual([]);

    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download NDJSON' }).click();
    const [line, ...others] = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\n');
    expect(others).toEqual([]);
    expect(JSON.parse(line as string)).toMatchObject({
      mode: 'custom',
      from: 'child',
      data: { from: 'child' },
    });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('appear while it executes, and a pause loses none', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'tokens', {
      input: { count: 200, token_ms: 20 },
      streamMode: 'messages-tuple',
      streamResumable: true,
    });
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}?tab=events`);
    await page.getByText(/events, live/).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/events, paused/).waitFor();
    await studio.client.runs.join(thread_id, run_id);
    await page.getByRole('button', { name: 'Resume' }).click();
    const all = await page.getByText(/^\d+ events$/).innerText();
    await page.reload();
    await page.getByText(/^\d+ events$/).waitFor();
    expect(await page.getByText(/^\d+ events$/).innerText()).toBe(all);
    await page.getByLabel('Search events').fill('t199 ');
    await expect.poll(() => rows(page).count()).toBeGreaterThan(0);
    await page.context().close();
  });

  test('are reported as missing if the run stored none', async () => {
    const { run_id } = await endedRun(studio.client, 'nested', { input: {}, streamResumable: false });
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}?tab=events`);
    await page.getByText('No stored events for this run').waitFor();
    await page.context().close();
  });
});
