import { Client } from '@langchain/langgraph-sdk';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)('assistants in Studio (needs Debian package chromium)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let browser: Browser;
  let origin: string;
  let client: Client;

  beforeAll(async () => {
    [http, browser] = await Promise.all([openApp({ graphs: ['zod-state', 'echo'] }), openBrowser()]);
    origin = new URL((await http.app.listen()).url).origin;
    client = new Client({ apiUrl: origin });
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
  });

  const writer = (name: string) =>
    client.assistants.create({ graphId: 'zod-state', name, context: { language: 'de' } });

  test('are listed, and created with a graph and a name', async () => {
    const { page, problems } = await openStudio(browser, origin, '/assistants');
    await page.getByRole('link', { name: 'zod-state' }).first().waitFor();
    await page.getByLabel('Graph').selectOption('echo');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    expect(await violations(page)).toEqual([]);

    await page.getByRole('button', { name: 'New assistant' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Graph').selectOption('zod-state');
    await dialog.getByLabel('Name').fill('Poet');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Poet' }).waitFor();
    const [created] = await client.assistants.search({ name: 'Poet' });
    expect(created).toMatchObject({ graph_id: 'zod-state', name: 'Poet' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test.each(['chat', 'graphs'])(
    'the name of a graph in the address of %s is its system assistant, not a custom one of the graph',
    async (screen) => {
      await client.assistants.create({ graphId: 'echo', name: 'Parrot' });
      const { page, problems } = await openStudio(browser, origin, `/${screen}/echo`);
      await page.getByRole('heading', { name: 'echo', exact: true }).first().waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  test('the form and the JSON edit one value, and saving it creates a version', async () => {
    const { assistant_id } = await writer('Writer');
    const { page, problems } = await openStudio(browser, origin, `/assistants/${assistant_id}`);
    const json = page.getByLabel('Context as JSON');
    await page.getByRole('combobox', { name: 'language' }).selectOption('en');
    expect(JSON.parse(await json.inputValue())).toEqual({ language: 'en' });
    await json.fill('{"language": "de"');
    await page.getByText(/^Invalid JSON/).waitFor();
    await json.fill('{"language": "en", "tone": "dry"}');
    expect(await page.getByRole('combobox', { name: 'language' }).inputValue()).toBe('"en"');
    await page.getByRole('textbox', { name: 'Name' }).fill('English writer');
    expect(await violations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Save as a new version' }).click();
    await page.getByText('version 2').waitFor();
    expect(await client.assistants.get(assistant_id)).toMatchObject({
      name: 'English writer',
      context: { language: 'en', tone: 'dry' },
      version: 2,
    });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an unsaved edit survives a new version of another client, and can be saved on top of it', async () => {
    const { assistant_id } = await writer('Shared');
    const { page, problems } = await openStudio(browser, origin, `/assistants/${assistant_id}`);
    const name = page.getByRole('textbox', { name: 'Name' });
    const json = page.getByLabel('Context as JSON');
    await name.fill('Mine');
    await client.assistants.update(assistant_id, { name: 'Theirs', context: { language: 'en' } });
    await page.getByText('Version 2 was saved in the meantime.').waitFor();
    expect(await name.inputValue()).toBe('Mine');
    expect(await page.getByRole('button', { name: 'Save as a new version' }).isDisabled()).toBe(true);
    expect(await violations(page)).toEqual([]);

    await page.getByRole('button', { name: 'Keep my changes' }).press('Enter');
    expect(JSON.parse(await json.inputValue())).toEqual({ language: 'en' });
    await page.getByRole('button', { name: 'Save as a new version' }).press('Enter');
    await page.getByText('version 3').waitFor();
    expect(await client.assistants.get(assistant_id)).toMatchObject({
      name: 'Mine',
      context: { language: 'en' },
    });

    await name.fill('Mine again');
    await client.assistants.update(assistant_id, { name: 'Theirs again' });
    await page.getByRole('button', { name: 'Use version 4' }).press('Enter');
    expect(await name.inputValue()).toBe('Theirs again');
    await client.assistants.update(assistant_id, { name: 'Theirs at last' });
    await expect.poll(() => name.inputValue()).toBe('Theirs at last');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('an unsaved edit is kept while the versions are viewed', async () => {
    const { assistant_id } = await writer('Half written');
    const { page, problems } = await openStudio(browser, origin, `/assistants/${assistant_id}`);
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('Mine');
    await page.getByRole('link', { name: 'Versions' }).press('Enter');
    await page.getByRole('region', { name: 'Changes' }).waitFor();
    expect(await name.count()).toBe(0);
    await page.getByRole('link', { name: 'Settings' }).press('Enter');
    expect(await name.inputValue()).toBe('Mine');
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('versions are compared, and an earlier one becomes the latest', async () => {
    const { assistant_id } = await writer('Changing');
    await client.assistants.update(assistant_id, { context: { language: 'en' } });
    const { page, problems } = await openStudio(browser, origin, `/assistants/${assistant_id}?tab=versions`);
    const changes = page.getByRole('region', { name: 'Changes' });
    await changes.getByText('added: +').waitFor();
    expect(await changes.locator('p', { hasText: 'language' }).allInnerTexts()).toEqual([
      expect.stringContaining('"language": "de"'),
      expect.stringContaining('"language": "en"'),
    ]);
    expect(await violations(page)).toEqual([]);

    await page.getByRole('button', { name: /^Version 1/ }).click();
    await page.getByRole('button', { name: 'Set as latest' }).click();
    await page.getByRole('button', { name: /^Version 1 latest/ }).waitFor();
    expect(await client.assistants.get(assistant_id)).toMatchObject({
      version: 1,
      context: { language: 'de' },
    });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('two versions answer the same input side by side, each with its own settings', async () => {
    const { assistant_id } = await writer('Two voices');
    await client.assistants.update(assistant_id, { context: { language: 'en' } });
    const { page, problems } = await openStudio(browser, origin, `/assistants/${assistant_id}`);
    await page.getByRole('link', { name: 'Try' }).press('Enter');
    expect(await page.getByRole('combobox', { name: 'Left version' }).inputValue()).toBe('1');
    expect(await page.getByRole('combobox', { name: 'Right version' }).inputValue()).toBe('2');
    await page.getByLabel('topic').fill('tea');
    await page.keyboard.press('Control+Enter');
    const answer = (side: string) => page.getByRole('region', { name: `Answer of the ${side} version` });
    for (const side of ['left', 'right']) {
      await answer(side).getByText('["tea","tea","tea"]').waitFor();
      await answer(side).getByText('success').waitFor();
    }
    expect(await violations(page)).toEqual([]);

    const threads = new URL(page.url()).searchParams.get('tried')?.split(',') ?? [];
    const runs = await Promise.all(threads.map((thread_id) => client.runs.list(thread_id)));
    const contexts = runs.map(([run]) => (run as { kwargs?: { context?: unknown } }).kwargs?.context);
    expect(contexts).toEqual([{ language: 'de' }, { language: 'en' }]);
    await page.reload();
    await answer('left').getByText('["tea","tea","tea"]').waitFor();
    await page.getByRole('link', { name: 'Compare step by step' }).click();
    await page.getByRole('table', { name: 'Steps' }).waitFor();
    await page.goBack();
    // Of another version there is no answer yet.
    await page.getByRole('combobox', { name: 'Left version' }).selectOption('2');
    await answer('left').waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('two assistants answer the same input side by side', async () => {
    const { assistant_id } = await writer('Here');
    const other = await client.assistants.create({
      graphId: 'zod-state',
      name: 'There',
      context: { language: 'en' },
    });
    const { page } = await openStudio(browser, origin, `/assistants/${assistant_id}?tab=try`);
    await page.getByRole('combobox', { name: 'Left assistant' }).selectOption('There');
    await page.getByLabel('topic').fill('tea');
    await page.keyboard.press('Control+Enter');
    for (const side of ['left', 'right'])
      await page
        .getByRole('region', { name: `Answer of the ${side} version` })
        .getByText('["tea","tea","tea"]')
        .waitFor();
    expect(await violations(page)).toEqual([]);
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('with')).toBe(other.assistant_id);
    const threads = searchParams.get('tried')?.split(',') ?? [];
    const titles = await Promise.all(
      threads.map(async (id) => (await client.threads.get(id)).metadata?.['title']),
    );
    expect(titles).toEqual(['There, version 1', 'Here, version 1']);
    await page.context().close();
  });

  test('are duplicated with their settings, and deleted after a confirmation', async () => {
    const { assistant_id } = await writer('Original');
    const { page, problems } = await openStudio(browser, origin, `/assistants/${assistant_id}`);
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'Original copy' }).waitFor();
    const [copy] = await client.assistants.search({ name: 'Original copy' });
    expect(copy).toMatchObject({ context: { language: 'de' } });

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete assistant' }).click();
    await page.getByRole('heading', { name: 'Assistants' }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Original copy' }).count()).toBe(0);
    expect(await client.assistants.search({ name: 'Original copy' })).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
