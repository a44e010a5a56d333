import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const GRAPHS = ['alone', 'sleeper'];
const OPERATOR = 'an-operator';

describe.runIf(hasStudio)('one node or tool on its own in Studio (needs Chromium and a build)', () => {
  const studio = useStudioServer(GRAPHS);

  beforeAll(() => readSchemas(studio.origin, GRAPHS), PREPARATION_MS);

  async function open(node: string, run?: string, graph = 'alone'): Promise<{ page: Page; dialog: Locator }> {
    const search = new URLSearchParams({ node, ...(run && { run }) });
    const { page } = await openStudio(studio.browser, studio.origin, `/graphs/${graph}?${search}`);
    await page.getByRole('button', { name: /^Run this node/ }).click();
    return { page, dialog: page.getByRole('dialog') };
  }

  const result = (dialog: Locator) => dialog.getByRole('region', { name: 'Result' });
  const execute = (dialog: Locator) => dialog.getByRole('button', { name: /^Run/ }).click();

  test('a tool is called with its form, and its run is listed', async () => {
    const { page, dialog } = await open('tools');
    await dialog.getByText('Adds two numbers.').waitFor();
    await dialog.getByLabel(/^A: The first one/).fill('4');
    await dialog.getByRole('textbox', { name: 'B', exact: true }).fill('38');
    expect(await violations(page)).toEqual([]);
    await execute(dialog);
    await result(dialog).getByText('42', { exact: true }).waitFor();
    await result(dialog).getByText('success', { exact: true }).waitFor();

    await dialog.getByLabel('Execute').selectOption('Tool shout');
    await dialog.getByRole('button', { name: 'As JSON' }).click();
    await dialog.getByLabel('Input as JSON').fill('{"text": ""}');
    await execute(dialog);
    await result(dialog)
      .getByText(/There is nothing to shout/)
      .first()
      .waitFor();

    await result(dialog).getByRole('link', { name: 'Open run' }).click();
    await page.waitForURL(/\/runs\//);
    await page.getByText('tools', { exact: true }).first().waitFor();
    await page.context().close();
  });

  test('an input written as JSON is kept when the form is shown again', async () => {
    const { page, dialog } = await open('tools');
    await dialog.getByRole('textbox', { name: 'B', exact: true }).fill('38');
    await dialog.getByRole('button', { name: 'As JSON' }).click();
    await dialog.getByLabel('Input as JSON').fill('{"a": 4}');
    await dialog.getByRole('button', { name: 'As form' }).click();
    expect(await dialog.getByLabel(/^A: The first one/).inputValue()).toBe('4');
    expect(await dialog.getByRole('textbox', { name: 'B', exact: true }).inputValue()).toBe('38');
    await execute(dialog);
    await result(dialog).getByText('42', { exact: true }).waitFor();
    await page.context().close();
  });

  test('a node executes from the state that its last step started from', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'alone', {
      input: { topic: 'tea', ran: ['before'] },
      interruptAfter: ['plain'],
    });
    await studio.client.runs.join(thread_id, run_id);
    const { page, dialog } = await open('plain', run_id);
    await dialog.getByText('the state its last step in the run started from').waitFor();
    expect(await dialog.getByLabel('Topic').inputValue()).toBe('tea');
    await dialog.getByLabel('Topic').fill('coffee');
    await page.keyboard.press('Control+Enter');
    await result(dialog).getByText('plain coffee').waitFor();

    const [newest] = await studio.client.threads.search({ metadata: { title: 'plain on its own' } });
    const { values, next } = await studio.client.threads.getState(newest?.thread_id ?? '');
    expect([values, next]).toMatchObject([{ ran: ['before', 'plain coffee'] }, ['each', 'each', 'jump']]);
    await page.context().close();
  });

  test('a run of a single node is not listed as a conversation', async () => {
    const { thread_id } = await studio.client.threads.create({ metadata: { title: 'A real one' } });
    await studio.client.runs.wait(thread_id, 'alone', { input: { topic: 'tea' }, interruptAfter: ['plain'] });
    const { page, dialog } = await open('plain');
    await execute(dialog);
    await result(dialog).getByRole('link', { name: 'Open run' }).waitFor();
    const [newest] = await studio.client.threads.search({ sortBy: 'updated_at' });
    expect(newest?.metadata).toMatchObject({ title: 'plain on its own', graph_id: 'alone' });
    await page.goto(`${studio.origin}/studio/chat`);
    await page.getByRole('link', { name: /^A real one/ }).waitFor();
    expect(await page.getByRole('link', { name: /on its own/ }).count()).toBe(0);
    await page.context().close();
  });

  test('an interrupt of the node is answered in its panel, and the run then ends', async () => {
    const { page, dialog } = await open('ask');
    await execute(dialog);
    await dialog.getByRole('heading', { name: 'Which?' }).waitFor();
    await dialog.getByLabel(/^Answer/).fill('green');
    await page.keyboard.press('Enter');
    await result(dialog).getByText('ask green').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
  });

  test('an input of its own, an error, and a node that the run does not execute are shown', async () => {
    const own = await open('each');
    await own.dialog.getByLabel('Execute').selectOption('input');
    await own.dialog.getByLabel('Input as JSON').fill('{"item": "pear"}');
    await execute(own.dialog);
    await result(own.dialog).getByText('each pear').waitFor();
    await own.page.context().close();

    const failing = await open('fails');
    await execute(failing.dialog);
    await result(failing.dialog).getByText('Error: It always fails').waitFor();
    await failing.page.context().close();

    const deferred = await open('deferred');
    await execute(deferred.dialog);
    await result(deferred.dialog)
      .getByText(/did not execute the node/)
      .waitFor();
    await deferred.page.context().close();
  });

  test('the panel of a node shows the place of its code on request', async () => {
    const { page } = await openStudio(studio.browser, studio.origin, '/graphs/alone?node=plain');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText(/^alone\.ts:\d+$/).waitFor();
    await page.getByLabel('Editor').selectOption('VS Code');
    const link = page.getByRole('link', { name: 'Open in VS Code' });
    expect(await link.getAttribute('href')).toMatch(/^vscode:\/\/file\/.+\/fixtures\/graphs\/alone\.ts:\d+$/);
    expect(await violations(page)).toEqual([]);

    await page.reload();
    await page.getByRole('button', { name: 'Find' }).click();
    await link.waitFor();
    await page.getByLabel('Editor').selectOption('No editor');
    await link.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('a node that takes long is cancelled', async () => {
    const { page, dialog } = await open('rest', undefined, 'sleeper');
    await dialog.getByRole('button', { name: 'As JSON' }).click();
    await dialog.getByLabel('Input as JSON').fill('{"ms": 600000}');
    await execute(dialog);
    await result(dialog).getByRole('button', { name: 'Cancel' }).click();
    await result(dialog).getByText('interrupted', { exact: true }).waitFor();
    await page.context().close();
  });

  test('a read-only session cannot execute a node', async () => {
    await using http = await openApp({
      graphs: ['alone'],
      environment: { AGENT_SERVER_API_KEYS: OPERATOR },
      studio: { read_only: true },
      one_process: 'a setting of its own',
    });
    const { origin } = new URL((await http.app.listen()).url);
    const { page } = await openStudio(studio.browser, origin, '/graphs/alone?node=tools');
    await signIn(page, OPERATOR);
    await page.getByRole('heading', { name: 'State it reads and writes' }).waitFor();
    expect(await page.getByRole('button', { name: /^Run this node/ }).count()).toBe(0);
    await page.context().close();
  });
});
