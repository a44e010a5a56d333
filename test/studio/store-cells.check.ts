import { describe, expect, test } from 'vitest';
import { hasStudio, openStudio } from '../support/studio-page.ts';
import { useStudioServer } from '../support/studio-server.ts';
import { violations } from '../support/studio-sign-in.ts';

const LONG = 'a long note '.repeat(1000);

describe.runIf(hasStudio)(
  'the store of Studio as a spreadsheet (needs Chromium and a build of Studio)',
  () => {
    const studio = useStudioServer(['echo']);

    const put = (namespace: string, key: string, value: object, rest: object = {}) =>
      studio.http.send('PUT', '/store/items', { namespace: [namespace], key, value, ...rest });
    const get = async (namespace: string, key: string) =>
      (await studio.http.get(`/store/items?namespace=${namespace}&key=${key}&include=ttl,index`)).body;

    async function openItems(path: string) {
      const { page } = await openStudio(studio.browser, studio.origin, `/store${path}`);
      const items = page.getByRole('table', { name: 'Items' });
      await items.getByRole('row').nth(1).waitFor();
      const cell = (name: string) => items.getByRole('button', { name });
      return { page, items, cell };
    }

    test('a field is edited in place by keyboard, and the rest of the item is unchanged', async () => {
      await put('cells', 'tea', { cups: 3, text: 'green' }, { ttl: 45, index: ['text'] });
      await put('cells', 'tea-2', { cups: 1, text: 'black' });
      const { page, cell } = await openItems('?namespace=cells');
      await cell('cups: 1').focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      expect(await violations(page)).toEqual([]);
      const field = page.getByRole('textbox', { name: 'cups of tea', exact: true });
      await field.fill('four');
      await field.press('Enter');
      await page.getByRole('alert').getByText('Invalid JSON').waitFor();
      await field.fill('4');
      await field.press('Enter');
      await cell('cups: 4').waitFor();
      expect(await get('cells', 'tea')).toMatchObject({
        value: { cups: 4, text: 'green' },
        ttl: { ttl_minutes: 45 },
        index: ['text'],
      });

      // The focus is where it was.
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      await page.getByRole('textbox', { name: 'text of tea', exact: true }).fill('white');
      await page.keyboard.press('Escape');
      await cell('text: green').waitFor();
      expect((await get('cells', 'tea')).value).toEqual({ cups: 4, text: 'green' });
      await page.context().close();
    });

    test('a double click edits a text as text, and leaving the field saves it', async () => {
      await put('clicks', 'note', { text: 'before' });
      const { page, cell, items } = await openItems('?namespace=clicks');
      await cell('text: before').dblclick();
      await page.getByRole('textbox', { name: 'text of note' }).fill('{"a": 1}');
      await items.getByRole('columnheader', { name: 'Key' }).click();
      await cell('text: {"a": 1}').waitFor();
      expect((await get('clicks', 'note')).value).toEqual({ text: '{"a": 1}' });
      await page.context().close();
    });

    test('a refused change is kept in its field', async () => {
      await put('refused', 'note', { text: 'before' });
      const { page, cell } = await openItems('?namespace=refused');
      await cell('text: before').dblclick();
      const field = page.getByRole('textbox', { name: 'text of note' });
      await field.fill('x'.repeat(1_100_000));
      await field.press('Enter');
      await page.getByRole('alert').getByText('must not be larger').waitFor();
      expect((await get('refused', 'note')).value).toEqual({ text: 'before' });
      await page.context().close();
    });

    test('values are loaded whole only when an item is opened', async () => {
      for (let n = 0; n < 60; n++) await put('large', `note-${n}`, { n, text: LONG });
      const lists: number[] = [];
      const { page, cell } = await openItems('?namespace=large');
      page.on('response', async (response) => {
        if (response.url().endsWith('/search')) lists.push((await response.body()).length);
      });
      await page.getByRole('button', { name: 'Show more items' }).click();
      const first = cell('text: a long note').last();
      await expect.poll(() => lists.length).toBeGreaterThan(0);
      expect(Math.max(...lists)).toBeLessThan(100_000);
      await first.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('figure', { name: 'Value' }).getByText(LONG.trim().slice(-1000)).waitFor();
      await page.context().close();
    });

    test('filters are chips, and in the address', async () => {
      await put('chips', 'a', { kind: 'fact', cups: 3 });
      await put('chips', 'b', { kind: 'fact', cups: 1 });
      await put('chips', 'c', { kind: 'rule', cups: 5 });
      const { page, items } = await openItems('?namespace=chips&filter={"kind":"fact"}');
      await items.getByRole('row').nth(2).waitFor();
      expect(await items.getByRole('row').count()).toBe(3);
      await page.getByLabel('Field').fill('cups');
      await page.getByLabel('Comparison').selectOption('≥');
      await page.getByLabel('Compare with').fill('2');
      await page.keyboard.press('Enter');
      await page.getByText('cups ≥ 2').waitFor();
      await items.getByRole('link', { name: 'b' }).waitFor({ state: 'detached' });
      expect(await items.getByRole('row').count()).toBe(2);
      expect(await violations(page)).toEqual([]);
      await page.reload();
      await page.getByRole('button', { name: 'Remove the filter kind is fact' }).press('Enter');
      await items.getByRole('link', { name: 'c' }).waitFor();
      expect(await items.getByRole('row').count()).toBe(3);
      await page.context().close();
    });

    test('a read-only session sees fields but cannot edit them', async () => {
      await put('read', 'note', { text: 'kept' });
      const { page, items } = await openItems('?namespace=read');
      const session = (await studio.http.get('/studio/session')).body;
      await page.route('**/studio/session', (route) =>
        route.fulfill({ json: { ...session, scope: 'read' } }),
      );
      await page.reload();
      await items.getByText('kept').waitFor();
      expect(await items.getByRole('button').count()).toBe(0);
      await page.context().close();
    });
  },
);
