import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const GRAPHS = ['alone-nested'];

describe.runIf(hasStudio)('nodes of subgraphs in Studio (needs Chromium and a build)', () => {
  const studio = useStudioServer(GRAPHS);

  beforeAll(() => readSchemas(studio.origin, GRAPHS), PREPARATION_MS);

  async function open(node: string): Promise<{ page: Page; dialog: Locator }> {
    const search = new URLSearchParams({ node, open: 'team,team:deep' });
    const { page } = await openStudio(studio.browser, studio.origin, `/graphs/alone-nested?${search}`);
    return { page, dialog: page.getByRole('dialog') };
  }

  async function openForm(node: string) {
    const { page, dialog } = await open(node);
    await page.getByRole('button', { name: /^Run this node/ }).click();
    return { page, dialog, result: dialog.getByRole('region', { name: 'Result' }) };
  }

  const execute = (dialog: Locator) => dialog.getByRole('button', { name: /^Run/ }).click();

  test('in a subgraph of a subgraph can be executed from a state of it', async () => {
    const { page, dialog, result } = await openForm('team:deep:think');
    await dialog.getByLabel('Topic').fill('tea');
    await execute(dialog);
    await result.getByText('think tea').waitFor();
    await result.getByText('success', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  test('have tools that can be called with a form', async () => {
    const { page, dialog, result } = await openForm('team:tools');
    await dialog.getByRole('textbox', { name: 'A', exact: true }).fill('4');
    await dialog.getByRole('textbox', { name: 'B', exact: true }).fill('38');
    await execute(dialog);
    await result.getByText('42', { exact: true }).waitFor();
    await page.context().close();
  });

  test('can interrupt and be answered in their panel', async () => {
    const { page, dialog, result } = await openForm('team:ask');
    await execute(dialog);
    await dialog.getByRole('heading', { name: 'Which?' }).waitFor();
    await dialog.getByLabel(/^Answer/).fill('green');
    await page.keyboard.press('Enter');
    await result.getByText('ask green').waitFor();
    await page.context().close();
  });

  test('of a graph that is called by code name what to execute instead', async () => {
    const { page } = await open('code:think');
    await page.getByText(/Run code instead\./).waitFor();
    expect(await page.getByRole('button', { name: /^Run this node/ }).count()).toBe(0);
    await page.context().close();
  });

  test('can be breakpoints of a run', async () => {
    const { page } = await open('team:write');
    await page.getByLabel('before team:write').check();
    await page.goto(`${studio.origin}/studio/chat/alone-nested`);
    await page.getByRole('button', { name: /^(Run|Send|Start)/ }).click();
    await page.waitForURL(/\/chat\/[^/]+\/[0-9a-f-]{36}$/);
    const thread_id = page.url().split('/').at(-1) ?? '';
    const [run] = await studio.client.runs.list(thread_id);
    await studio.client.runs.join(thread_id, run?.run_id ?? '');
    const { tasks } = await studio.client.threads.getState(thread_id, undefined, { subgraphs: true });
    expect(tasks).toMatchObject([{ name: 'team', state: { next: ['write'], values: { ran: ['begin'] } } }]);
    await page.context().close();
  });
});
