import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import type { ThreadHistory, ThreadState } from '../../src/schemas/thread-state.ts';
import { ThreadCreate } from '../../src/schemas/threads.ts';
import { openServices, type TestServices } from '../support/services.ts';

const actor = systemActor('test');

async function threadWithTotals(services: TestServices, totals: number[]): Promise<string> {
  const create = ThreadCreate.parse({ metadata: { graph_id: 'counter' } });
  const { thread_id } = await services.threads.create(actor, create);
  for (const total of totals) {
    await services.threadState.update(actor, thread_id, { values: { total }, as_node: 'count' });
  }
  return thread_id;
}

function totals(states: ThreadState[]): unknown[] {
  return states.map(({ values }) => (values as { total: number }).total);
}

test('history has the newest states first, up to the limit', async () => {
  await using services = await openServices();
  const thread_id = await threadWithTotals(services, [1, 2, 3]);
  const history = (limit: number) => services.threadState.history(actor, thread_id, { limit });
  expect(totals(await history(10))).toEqual([6, 3, 1]);
  expect(totals(await history(2))).toEqual([6, 3]);
  const [newest, middle] = await history(2);
  expect(newest?.parent_checkpoint_id).toBe(middle?.checkpoint_id);
});

test('`before` of a history may be an id, a checkpoint or a config, and is ignored without an id', async () => {
  await using services = await openServices();
  const thread_id = await threadWithTotals(services, [1, 2, 3]);
  const [newest] = await services.threadState.history(actor, thread_id, { limit: 1 });
  const checkpoint_id = newest?.checkpoint_id as string;
  const before = (form: ThreadHistory['before']) =>
    services.threadState.history(actor, thread_id, { limit: 10, before: form }).then(totals);
  const forms = [
    checkpoint_id,
    { checkpoint_id },
    { thread_id, checkpoint_ns: '', checkpoint_id },
    { configurable: { checkpoint_id } },
    { configurable: { thread_id, checkpoint_ns: '', checkpoint_id } },
  ];
  for (const form of forms) expect(await before(form)).toEqual([3, 1]);
  for (const form of [null, {}, { configurable: {} }]) expect(await before(form)).toEqual([6, 3, 1]);
});

test('metadata filters the states of a history by containment', async () => {
  await using services = await openServices();
  const thread_id = await threadWithTotals(services, [1, 2, 3]);
  const found = (metadata: Record<string, unknown>) =>
    services.threadState.history(actor, thread_id, { limit: 10, metadata }).then(totals);
  expect(await found({ step: 1 })).toEqual([3]);
  expect(await found({ source: 'update' })).toEqual([6, 3, 1]);
  expect(await found({ source: 'update', step: 99 })).toEqual([]);
});

test('the checkpoints of a subgraph have their own history and state', async () => {
  await using services = await openServices();
  const create = ThreadCreate.parse({ metadata: { graph_id: 'nested' } });
  const { thread_id } = await services.threads.create(actor, create);
  await services.execute(thread_id, 'nested', { ask: true });
  const state = await services.threadState.get(actor, thread_id, { subgraphs: true });
  expect(state).toMatchObject({ next: ['child'], interrupts: [{ value: { question: 'from the child' } }] });
  const inside = state.tasks[0]?.state as ThreadState;
  expect(inside).toMatchObject({ values: { ask: true }, next: ['work'] });
  const checkpoint_ns = inside.checkpoint?.checkpoint_ns as string;
  expect(checkpoint_ns).toMatch(/^child:/);

  const history = await services.threadState.history(actor, thread_id, {
    limit: 10,
    checkpoint: { checkpoint_ns },
  });
  expect(history[0]).toMatchObject({ checkpoint_id: inside.checkpoint_id, checkpoint: { checkpoint_ns } });
  const at = await services.threadState.at(actor, thread_id, inside.checkpoint ?? {}, {});
  expect(at).toMatchObject({ values: { ask: true }, next: ['work'] });
  const without = await services.threadState.get(actor, thread_id, {});
  expect(without.tasks[0]).toMatchObject({ state: null, checkpoint: { checkpoint_ns } });
});

test('history has every state for any page size of its reads', async () => {
  await using services = await openServices();
  const thread_id = await threadWithTotals(services, Array(25).fill(1));
  const history = async (limit: number) =>
    totals(await services.threadState.history(actor, thread_id, { limit }));
  const newestFirst = Array.from({ length: 25 }, (_, n) => 25 - n);
  expect(await history(1000)).toEqual(newestFirst);
  expect(await history(12)).toEqual(newestFirst.slice(0, 12));
});
