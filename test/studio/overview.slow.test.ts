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

  test('says what the server is, since when its processes run, what it stores and how much waits', async () => {
    for (let n = 0; n < 3; n++)
      await studio.client.runs.create(null, 'fails', { input: { x: 7 }, afterSeconds: 3600 });
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    const main = page.getByRole('main');
    await main.getByText('3 waiting').waitFor();
    const { body } = await studio.http.get('/system/overview');
    const fact = (name: string) => main.locator(`dt:text-is("${name}") + dd`).innerText();
    expect(await fact('Version')).toBe(body.versions.server);
    expect(await fact('Node')).toBe(process.versions.node);
    expect(await fact('Storage')).toMatch(/^(SQLite|PostgreSQL), [\d.]+ [kM]B$/);
    await main
      .getByText(/^started (now|\d+ (s|min|h) ago)$/)
      .first()
      .waitFor();
    await main.getByText(`process ${body.processes[0].pid}`).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
