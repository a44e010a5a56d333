import { expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import { openKeyRotation } from '../../../src/storage/storage.ts';
import type { StoreCondition, StoreScope } from '../../../src/storage/store/scope.ts';
import { testSealer } from '../../support/encryption.ts';
import { within } from '../../support/remembered-threads.ts';
import { describeEachPlace } from '../../support/storage-places.ts';
import { storedText, vacuum } from '../../support/stored-text.ts';

const NAMESPACE = ['people', 'ada'];

async function put(
  { storeItems }: Storage,
  key: string,
  value: Record<string, unknown>,
  index_rule: string[] | null = null,
) {
  await storeItems.apply([{ namespace: NAMESPACE, key, value, ttl_minutes: null, index_rule }]);
}

async function keys({ storeItems }: Storage, scope: Partial<StoreScope>, query?: string): Promise<string[]> {
  const whole = { namespace_prefix: NAMESPACE, conditions: [], limit: 10, offset: 0, ...scope };
  return (await storeItems.search(whole, query, false)).map(({ key }) => key).sort();
}

const where = (field: string, is: StoreCondition['is'], value: unknown) =>
  ({ conditions: [{ field, is, value } as StoreCondition] }) satisfies Partial<StoreScope>;

const OLD = { text: 'drinks greentea', cups: 2, tags: ['warm'], gone: null };
const ODD = { 'agent-server:sealed': 'not at all' };
const NEW = { text: 'drinks greentea and blacktea', cups: 5, tags: ['cold', 'warm'] };

/** An item from before encryption and one from after it. */
async function oldAndNew(url: string): Promise<void> {
  await within(url, undefined, (storage) => put(storage, 'old', OLD));
  await within(url, testSealer(), (storage) => put(storage, 'new', NEW));
}

describeEachPlace('an encrypted store', (place) => {
  test('is not confused by an older plain item that looks encrypted', async () => {
    const url = await place();
    await within(url, undefined, (storage) => put(storage, 'odd', ODD));
    await within(url, testSealer(), async (storage) => {
      await put(storage, 'new', ODD);
      const found = ['odd', 'new'].map((key) => storage.storeItems.get({ namespace: NAMESPACE, key }, false));
      expect(await Promise.all(found)).toMatchObject([{ value: ODD }, { value: ODD }]);
      expect(await keys(storage, where('agent-server:sealed', 'eq', 'not at all'))).toContain('new');
    });
  });

  test('finds older plain items by words, filters and owner rules', async () => {
    const url = await place();
    await oldAndNew(url);
    await within(url, testSealer(), findsBoth);
  });

  test('contains no plain word after re-encryption, and finds the same items', async () => {
    const url = await place();
    await oldAndNew(url);
    {
      await using encryption = await openKeyRotation({ url, encryptor: testSealer() });
      expect(await encryption.rotate({ onTable: () => {} })).toMatchObject({ unreadable: [] });
    }
    await within(url, testSealer(), findsBoth);
    vacuum(url);
    expect(await storedText(url)).not.toMatch(/greentea|blacktea|warm|cold/);
  });

  test('compares only values that have the type of the filter', async () => {
    const url = await place();
    await within(url, testSealer(), async (storage) => {
      await put(storage, 'number', { at: 10 });
      await put(storage, 'fraction', { at: 9.5 });
      await put(storage, 'text', { at: '10' });
      await put(storage, 'accent', { at: 'é' });
      await put(storage, 'null', { at: null });
      await put(storage, 'none', {});
      expect(await keys(storage, where('at', 'gt', 9.5))).toEqual(['number']);
      expect(await keys(storage, where('at', 'gte', 9.5))).toEqual(['fraction', 'number']);
      expect(await keys(storage, where('at', 'lt', 'z'))).toEqual(['text']);
      expect(await keys(storage, where('at', 'gte', 'z'))).toEqual(['accent']);
      expect(await keys(storage, where('at', 'eq', null))).toEqual(['none', 'null']);
      expect(await keys(storage, { ...where('at', 'gt', 0), limit: 1, offset: 1 })).toHaveLength(1);
    });
  });
});

async function findsBoth(storage: Storage): Promise<void> {
  expect(await keys(storage, {}, 'greentea')).toEqual(['new', 'old']);
  expect(await keys(storage, {}, '"drinks greentea" -blacktea')).toEqual(['old']);
  expect(await keys(storage, where('tags', 'eq', ['warm']))).toEqual(['old']);
  expect(await keys(storage, where('cups', 'ne', 2))).toEqual(['new']);
  expect(await keys(storage, where('cups', 'gt', 1))).toEqual(['new', 'old']);
  expect(await keys(storage, where('gone', 'eq', null))).toEqual(['new', 'old']);
  const metadata = { contains: { tags: ['warm'] } };
  expect(await keys(storage, { visibility: { metadata } })).toEqual(['new', 'old']);
  expect(await keys(storage, { visibility: { metadata: { contains: { cups: 2 } } } })).toEqual(['old']);
  expect(await storage.storeItems.get({ namespace: NAMESPACE, key: 'old' }, false)).toMatchObject({
    value: OLD,
  });
}
