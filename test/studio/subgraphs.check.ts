import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasStudio, openStudio, PREPARATION_MS, readSchemas } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';

const GRAPHS = ['nested', 'nested-tokens'];

describe.runIf(hasStudio)('subgraphs in the chat and inbox of Studio (needs Chromium and a build)', () => {
  const studio = useStudioServer(GRAPHS);

  beforeAll(() => readSchemas(studio.origin, GRAPHS), PREPARATION_MS);

  const open = (path: string) => openStudio(studio.browser, studio.origin, path);

  async function start(page: Page, input: object): Promise<void> {
    await page.getByRole('button', { name: 'As JSON' }).click();
    await page.getByLabel('Input as JSON').fill(JSON.stringify(input));
    await page.getByRole('button', { name: /^Run/ }).click();
  }

  const threadOf = (page: Page) => new URL(page.url()).pathname.split('/').at(-1) ?? '';

  /** What the graph `nested` wrote down. */
  async function logOf(thread_id: string): Promise<readonly string[]> {
    const { values } = await studio.client.threads.getState<{ log: string[] }>(thread_id);
    return values.log;
  }

  test('a question of a subgraph is answered in the chat', async () => {
    const { page, problems } = await open('/chat/nested');
    await start(page, { ask: true });
    const question = page.getByRole('region', { name: 'Question from the agent' });
    await question.getByText('from the child').waitFor();
    await question.getByLabel(/^Answer/).fill('Ada');
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: 'log' }).getByText('Ada').waitFor();
    expect(await logOf(threadOf(page))).toEqual(['first', 'child:"Ada"']);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the panel of a node has the schema of the graph of the run, or without a run the current one', async () => {
    const { thread_id } = await studio.client.threads.create();
    const { run_id } = await studio.client.runs.create(thread_id, 'nested', { input: {} });
    await studio.client.runs.join(thread_id, run_id);
    const former = (name: string) => ({ state_schema: { properties: { [name]: { type: 'string' } } } });
    const { page } = await open('');
    const path = `**/threads/${thread_id}/runs/${run_id}`;
    await page.route(`${path}/schemas`, (route) => route.fulfill({ json: former('of_then') }));
    await page.route(`${path}/subgraphs*`, (route) => route.fulfill({ json: { child: former('in_child') } }));
    const goTo = (search: string) => page.goto(`${studio.origin}/studio/graphs/nested?${search}`);
    await goTo(`run=${run_id}&node=first`);
    await page.getByText('of_then', { exact: true }).first().waitFor();
    await goTo(`run=${run_id}&node=child:work&open=child`);
    await page.getByText('in_child', { exact: true }).first().waitFor();
    await goTo('node=first');
    await page.getByRole('heading', { name: 'State it reads and writes' }).waitFor();
    expect(await page.getByText('of_then', { exact: true }).count()).toBe(0);
    await page.context().close();
  });

  test('a question of a subgraph is answered in the inbox', async () => {
    const { thread_id } = await studio.client.threads.create();
    await studio.client.runs.wait(thread_id, 'nested', { input: { ask: true } });
    const { page, problems } = await open('/inbox');
    await page.getByRole('heading', { name: 'from the child' }).waitFor();
    await page.keyboard.press('e');
    await page.locator('input:focus, textarea:focus').waitFor();
    await page.keyboard.type('Bo');
    await page.keyboard.press('Enter');
    await page.getByText('All caught up').waitFor();
    const [run] = await studio.client.runs.list(thread_id);
    await studio.client.runs.join(thread_id, run?.run_id ?? '');
    expect(await logOf(thread_id)).toEqual(['first', 'child:"Bo"']);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the tokens of a subgraph are shown as they come, in one message', async () => {
    const { page, problems } = await open('/chat/nested-tokens');
    await page.getByRole('button', { name: 'All fields' }).click();
    await start(page, { count: 10_000, token_ms: 25 });
    const answer = page.getByRole('article', { name: 'Assistant' });
    await answer.getByText('t0 t1 t2').waitFor();
    expect(await answer.count()).toBe(1);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('[role=log][aria-busy=false]').waitFor();

    await page.goto(`${studio.origin}/studio/chat/nested-tokens`);
    await page.getByRole('button', { name: 'All fields' }).click();
    await start(page, { count: 3 });
    await answer.getByText('t0 t1 t2').waitFor();
    await page.locator('[role=log][aria-busy=false]').waitFor();
    expect(await answer.count()).toBe(1);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
