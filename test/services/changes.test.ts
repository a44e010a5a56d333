import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Actor, systemActor } from '../../src/auth/actor.ts';
import { customAuth } from '../../src/auth/custom.ts';
import { authHandlers } from '../../src/auth/handlers.ts';
import { systemClock } from '../../src/core/clock.ts';
import { Forbidden } from '../../src/core/errors.ts';
import { memoryBus } from '../../src/events/bus.ts';
import type { Frame } from '../../src/events/frame.ts';
import type { StoreItem } from '../../src/schemas/store.ts';
import { changeService } from '../../src/services/changes.ts';
import { partsOf } from '../support/parts-of.ts';

const ME = systemActor('test');
const JANE: Actor = { ...ME, rules: [() => ({ metadata: { contains: { owner: 'jane' } } })] };

/** The service over a bus of its own. Rows whose id begins with `jane` are Jane's. */
async function story(actor: Actor = ME) {
  const bus = memoryBus();
  const asked: number[] = [];
  const put: ((item: Pick<StoreItem, 'namespace' | 'key'>) => void)[] = [];
  const { follow } = changeService({
    bus,
    visibleIds: async (_kind, ids) => {
      asked.push(ids.length);
      return ids.filter((id) => id.startsWith('jane'));
    },
    storeItems: partsOf({
      visible: async (items, { namespace_prefix }) =>
        items.filter(({ namespace }) => namespace[0] === (namespace_prefix[0] ?? 'jane')),
    }),
    longTermStore: { onChanged: (listener) => void put.push(listener) },
  });
  const end = new AbortController();
  const frames = (await follow(actor, end.signal))[Symbol.asyncIterator]() as AsyncIterator<Frame>;
  const next = async () => {
    const { value } = await frames.next();
    return value && ([value.event, JSON.parse(value.data)] as const);
  };
  expect(await next()).toEqual(['ready', {}]);
  const changeItem = (...namespace: string[]) => {
    for (const listener of put) listener({ namespace, key: 'a, b/c' });
  };
  return { bus, next, asked, end, changeItem };
}

test('changes within a short time are one event, with each row once', async () => {
  const { bus, next } = await story();
  for (const id of ['r1', 'r2', 'r1']) bus.emit('row.changed', 'run', id);
  bus.emit('row.changed', 'thread', 't1');
  bus.emit('row.changed', 'key', 'k1');

  expect(await next()).toEqual([
    'changes',
    {
      run: { ids: ['r1', 'r2'], more: false },
      thread: { ids: ['t1'], more: false },
      key: { ids: ['k1'], more: false },
    },
  ]);
});

test('a kind that an auth handler of the project refuses is left out', async () => {
  const auth = new Auth()
    .authenticate(() => 'ann')
    .on('threads:search', () => {
      throw new HTTPException(403, { message: 'No threads' });
    });
  const { authenticate } = customAuth(authHandlers(auth), { studio: false }, systemClock);
  const ann = await authenticate({ method: 'GET', url: 'http://a.example/', headers: {} });
  const { bus, next } = await story({ ...ME, ...ann });
  bus.emit('row.changed', 'thread', 't1');
  bus.emit('row.changed', 'assistant', 'a1');

  expect(await next()).toEqual(['changes', { assistant: { ids: ['a1'], more: false } }]);
});

test('a stream of changes sends at most four events a second, for any number of changed rows', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { bus, next, end } = await story();
  let events = 0;
  const reading = (async () => {
    while (await next()) events++;
  })();
  for (let change = 0; change < 200; change++) {
    bus.emit('row.changed', 'run', `r${change}`);
    await vi.advanceTimersByTimeAsync(5);
  }

  expect(events).toBe(4);
  end.abort();
  await vi.advanceTimersByTimeAsync(1000);
  await reading;
});

test('a reader of changes that falls behind gets at most 1,000 ids and a flag that there are more', async () => {
  const { bus, next } = await story();
  for (let i = 0; i < 5000; i++) bus.emit('row.changed', 'run', `r${i}`);
  const [, changes] = (await next()) ?? [];
  expect(changes.run.ids.length).toBeLessThanOrEqual(1000);
  expect(changes.run.more).toBe(true);
});

test('after lost notifications, readers of changes are told to reload every list', async () => {
  const { bus, next } = await story();
  bus.emit('reconnected');
  const [, changes] = (await next()) ?? [];
  expect(Object.keys(changes)).toEqual(['run', 'thread', 'assistant', 'cron', 'delivery', 'item', 'key']);
  expect(changes.run).toEqual({ ids: [], more: true });
});

test('a reader of changes is notified only of rows that it may see', async () => {
  const { bus, next } = await story(JANE);
  bus.emit('row.changed', 'run', 'john-1');
  bus.emit('row.changed', 'run', 'jane-1');
  bus.emit('row.changed', 'thread', 'john-2');
  bus.emit('row.changed', 'key', 'jane-key');

  expect(await next()).toEqual(['changes', { run: { ids: ['jane-1'], more: false } }]);
});

test('changes of store items name namespace and key', async () => {
  const { next, changeItem } = await story();
  for (let times = 0; times < 3; times++) changeItem('memories', 'jöhn');
  const [, changes] = (await next()) ?? [];
  expect(changes.item).toEqual({ ids: ['memories/j%C3%B6hn/a%2C%20b%2Fc'], more: false });
});

test('a user is notified only of store items that their own search would find', async () => {
  const owner = await story(JANE);
  owner.changeItem('john');
  owner.changeItem('jane');
  expect(await owner.next()).toEqual(['changes', { item: { ids: ['jane/a%2C%20b%2Fc'], more: false } }]);

  const confined: Actor = {
    ...ME,
    rules: [
      (event, value) => {
        if (event === 'store:search') Object.assign(value, { namespace: ['mary'] });
        return undefined;
      },
    ],
  };
  const { next, changeItem } = await story(confined);
  changeItem('jane');
  changeItem('mary');
  expect(await next()).toEqual(['changes', { item: { ids: ['mary/a%2C%20b%2Fc'], more: false } }]);
});

test('changes of many items with long keys are split into notifications that PostgreSQL accepts', async () => {
  const { bus, next, changeItem } = await story();
  const lengths: number[] = [];
  using _sent = bus.on('rows.changed', (_kind, ids) => lengths.push(Buffer.byteLength(ids)));
  for (let n = 0; n < 20; n++) changeItem(`${n}${'ü'.repeat(500)}`);
  const [, changes] = (await next()) ?? [];
  expect([changes.item.ids.length, Math.max(...lengths) < 7500, lengths.length > 1]).toEqual([
    20,
    true,
    true,
  ]);
});

test('changes omit kinds that a user may not read, and refuse a user who may read none', async () => {
  const onlyCrons: Actor = {
    ...ME,
    rules: [
      (event) => {
        if (event !== 'crons:search') throw new Forbidden('no');
        return undefined;
      },
    ],
  };
  const { bus, next } = await story(onlyCrons);
  bus.emit('row.changed', 'run', 'r1');
  bus.emit('row.changed', 'cron', 'c1');
  expect(await next()).toEqual(['changes', { cron: { ids: ['c1'], more: false } }]);

  const nothing: Actor = {
    ...ME,
    rules: [
      () => {
        throw new Forbidden('no');
      },
    ],
  };
  await expect(story(nothing)).rejects.toThrow('no');
});

test('the stream of changes ends with its connection', async () => {
  const { next, end } = await story();
  const last = next();
  end.abort();
  expect(await last).toBeUndefined();
});
