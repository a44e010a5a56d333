import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { systemClock } from '../../src/core/clock.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { assistantCache } from '../../src/services/assistants/assistant-cache.ts';
import { assistantChanged } from '../../src/services/assistants/assistant-versions.ts';
import type { AssistantRepository } from '../../src/storage/assistants/assistants.ts';
import { partsOf } from '../support/parts-of.ts';

const actor = systemActor('test');

/** The list of all assistants, of so many bytes, and how often it was read. */
function cacheOf(bytes: number) {
  const bus = memoryBus();
  let reads = 0;
  const assistants = partsOf<AssistantRepository>({
    summaries: async () => {
      reads += 1;
      return { list: [], bytes };
    },
  });
  const list = assistantCache(assistants, systemClock, bus);
  return { bus, list: () => list(actor), reads: () => reads };
}

test('the cached list of assistants is read once until an assistant changes', async () => {
  const { bus, list, reads } = cacheOf(1000);
  const first = await list();
  expect(await list()).toBe(first);
  expect(reads()).toBe(1);
  assistantChanged(bus, 'one');
  expect(await list()).not.toBe(first);
  expect(reads()).toBe(2);
});

test('a list of assistants of many megabytes is not cached', async () => {
  const { list, reads } = cacheOf(40 * 1024 * 1024);
  await list();
  await list();
  expect(reads()).toBe(2);
});
