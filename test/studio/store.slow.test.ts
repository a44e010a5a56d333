import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { openBrowser } from '../support/browser.ts';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { violations } from '../support/studio-sign-in.ts';

describe.runIf(hasStudio)('the store in Studio (needs Chromium and a build of Studio)', () => {
  let http: Awaited<ReturnType<typeof openApp>>;
  let browser: Browser;
  let origin: string;

  beforeAll(async () => {
    const environment = { LANGGRAPH_STORE: '{"ttl":{"default_ttl":90}}' };
    [http, browser] = await Promise.all([openApp({ graphs: ['echo'], environment }), openBrowser()]);
    origin = new URL((await http.app.listen()).url).origin;
  });

  afterAll(async () => {
    await browser?.close();
    await http?.[Symbol.asyncDispose]();
  });

  async function put(namespace: string[], key: string, text: string) {
    await http.send('PUT', '/store/items', { namespace, key, value: { text } });
  }

  test('items are found by words with their scores, in the open namespace', async () => {
    await put(['users', 'ana'], 'bike', 'rides a red bicycle');
    await put(['users', 'ana'], 'tea', 'drinks green tea');
    await put(['users', 'ben'], 'bike', 'sold his bicycle');
    const { page, problems } = await openStudio(browser, origin, '/store');
    const items = page.getByRole('table', { name: 'Items' });
    await items.getByRole('row').nth(3).waitFor();
    await page
      .getByRole('navigation', { name: 'Namespaces' })
      .getByRole('link', { name: 'ana' })
      .press('Enter');
    await page.getByLabel('Search items').fill('bicycle');
    await page.keyboard.press('Enter');
    await items.getByRole('columnheader', { name: 'Score' }).waitFor();
    expect(await items.getByRole('row').count()).toBe(2);
    expect(await items.getByRole('row').nth(1).innerText()).toMatch(/^\s*bike\s+users\.ana\s+\d\.\d{3}/);
    expect(await violations(page)).toEqual([]);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('an expiring item shows when it expires', async () => {
    const item = { namespace: ['short'], key: 'note', value: { text: 'soon gone' }, ttl: 60 };
    await http.send('PUT', '/store/items', item);
    const { page, problems } = await openStudio(browser, origin, '/store?item=short&key=note');
    await page.getByText(/expires in (59 min \d+ s|1 h)$/).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.context().close();
    expect(problems).toEqual([]);
  });

  test('an item is given a time to live in its form', async () => {
    const { page, problems } = await openStudio(browser, origin, '/store?namespace=brief');
    await page.getByRole('button', { name: 'New item' }).press('Enter');
    await page.getByLabel('Key').fill('note');
    await page.getByLabel('Expires').selectOption('After a number of minutes');
    await page.getByRole('spinbutton', { name: 'Minutes' }).fill('90');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('link', { name: 'note' }).press('Enter');
    await page.getByText(/expires in 1 h (29|30) min$/).waitFor();
    const { ttl } = (await http.get('/store/items?namespace=brief&key=note&include=ttl')).body;
    expect(ttl.ttl_minutes).toBe(90);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a changed item keeps its TTL, or that it never expires, and its index setting', async () => {
    for (const [key, ttl] of [
      ['note', 45.5],
      ['rule', null],
    ] as const) {
      const item = { namespace: ['kept'], key, value: { text: 'old' }, ttl, index: ['title'] };
      await http.send('PUT', '/store/items', item);
      const { page, problems } = await openStudio(browser, origin, `/store?item=kept&key=${key}`);
      await page.getByText('found by its title').waitFor();
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Value').fill('{"text": "new"}');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('figure', { name: 'Value' }).getByText('new').waitFor();
      const saved = await http.get(`/store/items?namespace=kept&key=${key}&include=ttl,index`);
      expect([saved.body.ttl?.ttl_minutes ?? null, saved.body.index]).toEqual([ttl, ['title']]);
      await page.context().close();
      expect(problems).toEqual([]);
    }
  });

  test('an item is created, changed and deleted, several at once too, by keyboard', async () => {
    const { page, problems } = await openStudio(browser, origin, '/store?namespace=shop.hours');
    await page.getByRole('button', { name: 'New item' }).press('Enter');
    await page.getByLabel('Key').fill('saturday');
    await page.getByLabel('Value').fill('[9, 14]');
    await page.getByText('The value must be a JSON object').waitFor();
    await page.getByLabel('Value').fill('{"from": 9}');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).press('Enter');

    await page.getByRole('link', { name: 'saturday' }).press('Enter');
    await page.getByRole('button', { name: 'Edit' }).press('Enter');
    await page.getByLabel('Value').fill('{"from": 10}');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByRole('figure', { name: 'Value' }).getByText('10').waitFor();
    const saved = await http.get('/store/items?namespace=shop.hours&key=saturday');
    expect(saved.body.value).toEqual({ from: 10 });
    await page.keyboard.press('Escape');

    await put(['shop', 'hours'], 'sunday', 'closed');
    await page.reload();
    await page.getByLabel('Select all shown').press('Space');
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByText('No items').waitFor();
    await page.context().close();
    expect(problems).toEqual([]);
  });
});
