import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { StorageUnavailable } from '../../../src/core/errors.ts';
import { silentLogger } from '../../../src/core/logger.ts';
import type { Served } from '../../../src/extensions/deployments/serving/live-revisions.ts';
import {
  PinnedRevisions,
  type PinnedRevisionsDeps,
} from '../../../src/extensions/deployments/serving/pinned-revisions.ts';

const EARLIER = { revision_id: 'earlier', folder: 'earlier' } as never;

/** An earlier revision whose app `load` opens. */
async function pinned(load: PinnedRevisionsDeps['load']) {
  const pins = new PinnedRevisions({
    load,
    find: async () => [EARLIER],
    graphsOf: async () => new Set(['agent']),
    begin: async () => {},
    end: async () => {},
    retire: () => {},
    serving: () => ({ folder: undefined, canary_id: undefined }),
    waitedFor: async () => [],
    onChanged: () => {},
    clock: systemClock,
    logger: silentLogger,
    idle_ms: 60_000,
    request_ms: 20,
  });
  await pins.refresh();
  return pins;
}

const SERVED = {
  revision_id: 'earlier',
  folder: 'earlier',
  app: { graphs: { loadErrors: () => new Map() } },
  tracked: { enter: () => {} },
} as unknown as Served;

test('an earlier revision that loads slowly keeps its threads, and serves them once it is loaded', async () => {
  const { promise, resolve } = Promise.withResolvers<Served>();
  const pins = await pinned(() => promise);
  expect(await pins.openForRequest('earlier')).toBe('late');
  expect(pins.others('active')).toEqual(['earlier']);
  resolve(SERVED);
  expect(await pins.openForRequest('earlier')).toBe(SERVED);
  await pins.close();
});

test('an earlier revision that cannot be loaded in an outage keeps its threads, and is loaded again', async () => {
  let loads = 0;
  const pins = await pinned(async () => {
    loads += 1;
    if (loads === 1) throw new StorageUnavailable('away');
    return SERVED;
  });
  expect(await pins.openForRequest('earlier')).toBe('late');
  expect(await pins.openForRequest('earlier')).toBe(SERVED);
  await pins.close();
});

test('the threads of a broken earlier revision continue in the active one', async () => {
  const pins = await pinned(() => Promise.reject(new Error('no such package')));
  expect(await pins.openForRequest('earlier')).toBeUndefined();
  expect(pins.others('active')).toEqual([]);
  await pins.close();
});
