import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { KEY, unpack } from '../support/deployments.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useDeploymentStudio, useStudioServer } from '../support/studio-server.ts';
import { signIn, violations } from '../support/studio-sign-in.ts';

const OPERATOR = 'an-operator';

const choices = (page: Page) => page.getByRole('listbox', { name: 'Choices' }).getByRole('option');

/** Opens the palette and types; only the keyboard is used. */
async function look(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page
    .getByRole('combobox', { name: /^Screen, name, id/ })
    .and(page.locator(':focus'))
    .waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type(text);
}

/** Down to a choice, and there. */
async function choose(page: Page, choice: RegExp): Promise<void> {
  const wanted = choices(page).filter({ hasText: choice });
  await wanted.waitFor();
  const count = await choices(page).count();
  for (let i = 0; i < count && (await wanted.getAttribute('aria-selected')) !== 'true'; i++)
    await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
}

describe.runIf(hasStudio)('the palette of Studio (needs Chromium and a build of Studio)', () => {
  const studio = useStudioServer(['echo', 'chat'], { environment: { AGENT_SERVER_API_KEYS: OPERATOR } });
  const post = (path: string, body: object) => studio.http.post(path, body, { 'x-api-key': OPERATOR });

  test('assistants, graphs, threads and crons are found by their names and opened by keyboard', async () => {
    const { assistant_id } = (await post('/assistants', { graph_id: 'echo', name: 'Travel desk' })).body;
    const lunch = { title: 'Lunch for five', user: 'ana' };
    const { thread_id } = (await post('/threads', { metadata: lunch })).body;
    for (let n = 1; n <= 7; n++) await post('/threads', { metadata: { title: `Trip ${n}` } });
    const cron = { assistant_id, schedule: '17 5 * * 1', input: {} };
    const { cron_id } = (await post('/runs/crons', cron)).body;

    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await signIn(page, OPERATOR);
    const searches: string[] = [];
    page.on('request', (request) => {
      if (/search$/.test(request.url())) searches.push(request.url());
    });
    const opens = async (text: string, choice: RegExp, path: string) => {
      await look(page, text);
      await choose(page, choice);
      await page.waitForURL(`${studio.origin}/studio${path}`);
    };
    await opens('travel', /^Travel deskAssistant$/, `/assistants/${assistant_id}`);
    await opens('travel', /^Travel desk 17 5 \* \* 1Cron$/, `/crons/${cron_id}`);
    const assistants = (await post('/assistants/search', { graph_id: 'chat' })).body;
    await opens('CHA', /^chatGraph$/, `/graphs/${assistants[0].assistant_id}`);
    await opens('five lunch', /^Lunch for fiveThread$/, `/threads/${thread_id}`);
    await page.goto(`${studio.origin}/studio/runs`);
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await opens('user=ana', /^Lunch for fiveThread$/, `/threads/${thread_id}`);

    searches.length = 0;
    await look(page, 'trip');
    await choices(page).filter({ hasText: 'Trip 7' }).waitFor();
    expect(await choices(page).count()).toBe(5);
    expect(await violations(page)).toEqual([]);
    expect(searches.filter((url) => url.endsWith('/threads/search')).length).toBeLessThanOrEqual(4);
    await page.keyboard.press('ArrowUp');
    await choices(page).last().and(page.locator('[aria-selected=true]')).waitFor();
    await look(page, 'nothing of this name');
    await page.getByText('No results.').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('namespaces of the store and keys are found, and a resource by its pasted id', async () => {
    const item = { namespace: ['ana', 'recipes'], key: 'soup', value: { text: 'leek' } };
    await studio.http.send('PUT', '/store/items', item, { 'x-api-key': OPERATOR });
    await post('/keys', { name: 'Kitchen display', scope: 'read' });
    const { assistant_id } = (await post('/assistants', { graph_id: 'echo', name: 'Cook' })).body;
    const cron = { assistant_id, schedule: '3 3 * * 1', input: {} };
    const { cron_id } = (await post('/runs/crons', cron)).body;
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await signIn(page, OPERATOR);
    const opens = async (text: string, choice: RegExp, path: string) => {
      await look(page, text);
      await choose(page, choice);
      await page.waitForURL(`${studio.origin}/studio${path}`);
    };
    await opens('recip', /^ana\.recipesNamespace$/, '/store?namespace=ana.recipes');
    await opens('display', /^Kitchen displayKey$/, '/keys');
    await opens(assistant_id, /^Assistant /, `/assistants/${assistant_id}`);
    await opens(cron_id, /^Cron /, `/crons/${cron_id}`);
    await opens(cron_id, /^Delivery /, `/webhooks/${cron_id}`);
    await page.getByRole('alert').filter({ hasText: 'not found' }).first().waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('rows that a user may not see are not found', async () => {
    await post('/threads', { metadata: { title: 'Salaries' } });
    const { page, problems } = await openStudio(studio.browser, studio.origin, '');
    await signIn(page, OPERATOR);
    await look(page, 'salar');
    await choices(page)
      .filter({ hasText: /^SalariesThread$/ })
      .waitFor();
    await page.evaluate(`fetch('${studio.origin}/studio/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ view_as: 'jane' }),
    })`);
    await page.goto(`${studio.origin}/studio/threads`);
    await page.getByText('Seen as jane').waitFor();
    await look(page, 'salar');
    await page.getByText('No results.').waitFor();
    expect(await choices(page).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

describe.runIf(hasStudio)('the palette of a Studio with deployments (needs Chromium and a build)', () => {
  const studio = useDeploymentStudio(unpack);

  test('deployments are found by their names', async () => {
    await studio.server.create('billing');
    const { id } = await studio.server.create('support-desk');
    const { page, problems } = await openStudio(studio.browser, studio.server.url, '');
    await signIn(page, KEY);
    await look(page, 'port');
    await choose(page, /^support-deskDeployment$/);
    await page.waitForURL(`**/studio/deployments/${id}`);
    await look(page, 'nothing of this name');
    await page.getByText('No results.').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
