import { describe, expect, test } from 'vitest';
import { endedRun } from '../support/ended-run.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)('a run that took too long in Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['sleeper'], { runs: { timeout_seconds: 5 } });

  test('shows which limit ended it, and opens the step that was executing', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'sleeper', { input: { ms: 600_000 } });
    await studio.client.runs.join(thread_id, run_id).catch(() => {});
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByRole('heading', { name: 'TimeoutError' }).waitFor();
    await page.getByText('longer than runs.timeout_seconds').waitFor();
    await page.getByRole('button', { name: /^rest/, pressed: true }).waitFor();
    await page.getByRole('heading', { name: 'rest' }).waitFor();
    await page.getByText('cancelled', { exact: true }).waitFor();
    await page.getByText('It was cancelled before it returned anything.', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });
});

describe.runIf(hasStudio)('the outcome of a run in Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['asks', 'fails', 'sleeper', 'ten-steps']);

  test('an interrupted run links to its interrupt, until that is answered', async () => {
    const { client } = studio;
    const { thread_id } = await client.threads.create({ metadata: { title: 'Lunch with Ana' } });
    const { run_id } = await client.runs.create(thread_id, 'asks', { input: { ask: 'Shall I?' } });
    await client.runs.join(thread_id, run_id);
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByText('waiting for you', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Lunch with Ana' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Answer', exact: true }).click();
    await page.getByText('Shall I?').first().waitFor();

    await page.goBack();
    await page.getByText('waiting for you', { exact: true }).waitFor();
    await client.runs.wait(thread_id, 'asks', { command: { resume: 'Yes' } });
    await expect.poll(() => page.getByText('waiting for you', { exact: true }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Answer', exact: true }).count()).toBe(0);
    await page.context().close();
  });

  test('a failed run shows the failed step, and links to its checkpoint', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'fails', { input: { x: 7 } });
    await studio.client.runs.join(thread_id, run_id).catch(() => {});
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByRole('button', { name: /^throws/, pressed: true }).waitFor();
    await page.getByRole('heading', { name: 'throws' }).waitFor();
    const { steps } = (await studio.http.get(`/runs/${run_id}/steps`)).body;
    const failed = steps.find(({ status }: { status: string }) => status === 'error');
    await page.getByRole('link', { name: failed.checkpoint_id }).click();
    await page.waitForURL(`**/threads/*?checkpoint=${failed.checkpoint_id}`);
    await page.context().close();
  });

  test('a run that waits for another one says so in place of its steps', async () => {
    const { client } = studio;
    const { thread_id } = await client.threads.create();
    const sleeping = { input: { ms: 600_000 }, multitaskStrategy: 'enqueue' } as const;
    const { run_id: running } = await client.runs.create(thread_id, 'sleeper', sleeping);
    const { run_id } = await client.runs.create(thread_id, 'sleeper', sleeping);
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}`);
    await page.getByText(`Waits behind run ${running}`).waitFor();
    for (const each of [run_id, running]) await client.runs.cancel(thread_id, each, true);
    await page.context().close();
  });

  test('an unknown view in the address of a run shows the first one', async () => {
    const { run_id } = await endedRun(studio.client, 'ten-steps', { input: { n: 0 } });
    const { page } = await openStudio(studio.browser, studio.origin, `/runs/${run_id}?tab=nothing`);
    await page.getByRole('region', { name: 'Steps' }).waitFor();
    await page.context().close();
  });
});
