import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { ThreadCreate } from '../../src/schemas/threads.ts';
import { openServices, type TestServices } from '../support/services.ts';

const actor = systemActor('test');
const MISSING = '00000000-0000-7000-8000-000000000000';
const NO_STATE = {
  values: {},
  next: [],
  tasks: [],
  metadata: null,
  created_at: null,
  checkpoint: null,
  parent_checkpoint: null,
  interrupts: [],
  checkpoint_id: null,
  parent_checkpoint_id: null,
};

async function threadOf(services: TestServices, graph_id?: string): Promise<string> {
  const thread = await services.threads.create(
    actor,
    ThreadCreate.parse({ metadata: graph_id ? { graph_id } : {} }),
  );
  return thread.thread_id;
}

test('a thread without runs has an empty state and no history, with or without a graph', async () => {
  await using services = await openServices();
  for (const graph_id of [undefined, 'counter']) {
    const thread_id = await threadOf(services, graph_id);
    expect(await services.threadState.get(actor, thread_id, {})).toEqual(NO_STATE);
    expect(await services.threadState.at(actor, thread_id, {}, {})).toEqual(NO_STATE);
    expect(await services.threadState.history(actor, thread_id, { limit: 10 })).toEqual([]);
  }
});

test('the state of a missing thread or an unknown checkpoint is not found', async () => {
  await using services = await openServices();
  const { threadState } = services;
  const refusal = { status: 404, message: `Thread with ID ${MISSING} not found` };
  await expect(threadState.get(actor, MISSING, {})).rejects.toMatchObject(refusal);
  await expect(threadState.update(actor, MISSING, {})).rejects.toMatchObject(refusal);
  await expect(threadState.history(actor, MISSING, { limit: 1 })).rejects.toMatchObject(refusal);
  for (const thread_id of [await threadOf(services), await threadOf(services, 'counter')]) {
    const unknown = threadState.at(actor, thread_id, { checkpoint_id: MISSING }, {});
    await expect(unknown).rejects.toMatchObject({ status: 404, message: `Checkpoint ${MISSING} not found` });
  }
});

test('a state update is visible at once in the state and in the thread', async () => {
  await using services = await openServices();
  const thread_id = await threadOf(services, 'interrupting');
  const result = await services.threadState.update(actor, thread_id, {
    values: { x: 1 },
    as_node: '__start__',
  });
  const { checkpoint_id } = result;
  const checkpoint = { thread_id, checkpoint_ns: '', checkpoint_id };
  expect(result).toEqual({ checkpoint, configurable: checkpoint, checkpoint_id });
  expect(await services.threadState.get(actor, thread_id, {})).toMatchObject({
    values: { x: 1, log: [] },
    next: ['before'],
    checkpoint,
    checkpoint_id,
    parent_checkpoint: null,
    metadata: { source: 'update', step: 0, parents: {}, graph_id: 'interrupting', thread_id },
  });
  expect(await services.threads.get(actor, thread_id)).toMatchObject({
    status: 'interrupted',
    values: { x: 1, log: [] },
    interrupts: {},
    error: null,
  });
});

test('a state update of a finished graph leaves the thread idle', async () => {
  await using services = await openServices();
  const thread_id = await threadOf(services, 'counter');
  await services.threadState.update(actor, thread_id, { values: { total: 2 }, as_node: 'count' });
  await services.threadState.update(actor, thread_id, {
    values: { total: 3, seen: ['x'] },
    as_node: 'count',
  });
  expect(await services.threads.get(actor, thread_id)).toMatchObject({
    status: 'idle',
    values: { total: 5, seen: ['x'] },
  });
});

test('an empty state update creates a checkpoint with the same state', async () => {
  await using services = await openServices();
  const thread_id = await threadOf(services, 'counter');
  const first = await services.threadState.update(actor, thread_id, {
    values: { total: 2 },
    as_node: 'count',
  });
  const second = await services.threadState.update(actor, thread_id, {});
  expect(second.checkpoint_id).not.toBe(first.checkpoint_id);
  const state = await services.threadState.get(actor, thread_id, {});
  expect(state).toMatchObject({ values: { total: 2 }, parent_checkpoint_id: first.checkpoint_id });
});

test('a state update from an earlier checkpoint forks the history there', async () => {
  await using services = await openServices();
  const thread_id = await threadOf(services, 'counter');
  const { threadState } = services;
  const first = await threadState.update(actor, thread_id, { values: { total: 1 }, as_node: 'count' });
  await threadState.update(actor, thread_id, { values: { total: 10 }, as_node: 'count' });
  for (const from of [{ checkpoint: first.checkpoint }, { checkpoint_id: first.checkpoint_id }]) {
    await threadState.update(actor, thread_id, { ...from, values: { total: 100 }, as_node: 'count' });
    expect(await threadState.get(actor, thread_id, {})).toMatchObject({
      values: { total: 101 },
      parent_checkpoint_id: first.checkpoint_id,
    });
  }
  const unknown = threadState.update(actor, thread_id, { checkpoint_id: MISSING, values: { total: 1 } });
  await expect(unknown).rejects.toMatchObject({ status: 404, message: `Checkpoint ${MISSING} not found` });
});

test('a checkpoint of another thread is not found', async () => {
  await using services = await openServices();
  const [mine, theirs] = [await threadOf(services, 'counter'), await threadOf(services, 'counter')];
  const { checkpoint } = await services.threadState.update(actor, theirs, {
    values: { total: 1 },
    as_node: 'count',
  });
  await expect(services.threadState.at(actor, mine, checkpoint, {})).rejects.toMatchObject({ status: 404 });
  expect(await services.threadState.at(actor, theirs, checkpoint, {})).toMatchObject({
    values: { total: 1 },
  });
});

test('a state update that the graph refuses is a bad request and changes nothing', async () => {
  await using services = await openServices();
  const { threadState } = services;
  const nowhere = await threadOf(services);
  await expect(threadState.update(actor, nowhere, { values: {} })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('has no graph ID'),
  });
  const thread_id = await threadOf(services, 'counter');
  const unknownNode = threadState.update(actor, thread_id, { values: { total: 1 }, as_node: 'x' });
  await expect(unknownNode).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('does not exist'),
  });
  const list = threadState.update(actor, thread_id, { values: [1, 2], as_node: 'count' });
  await expect(list).rejects.toMatchObject({ status: 400 });
  expect(await threadState.get(actor, thread_id, {})).toEqual(NO_STATE);
  expect(await services.threads.get(actor, thread_id)).toMatchObject({ status: 'idle', values: null });
});

test('a state update is refused while a run is in flight', async () => {
  await using services = await openServices();
  const thread_id = await threadOf(services, 'counter');
  await services.runs.create(actor, thread_id, { assistant_id: 'counter' }, 'background');
  const update = services.threadState.update(actor, thread_id, { values: { total: 1 }, as_node: 'count' });
  await expect(update).rejects.toMatchObject({ status: 409, message: expect.stringContaining(thread_id) });
  expect(await services.threadState.history(actor, thread_id, { limit: 10 })).toEqual([]);
});

test('a waiting interrupt is in the state and in the thread, under its task', async () => {
  await using services = await openServices();
  const thread_id = await threadOf(services, 'interrupting');
  await services.execute(thread_id, 'interrupting', { x: 1 });
  const state = await services.threadState.get(actor, thread_id, {});
  const interrupt = { id: expect.stringMatching(/^[0-9a-f]{32}$/), value: { question: 'ok?' } };
  expect(state).toMatchObject({ next: ['ask'], interrupts: [interrupt], tasks: [{ name: 'ask' }] });
  await services.threadState.update(actor, thread_id, { values: { log: ['noted'] }, as_node: 'before' });
  expect(await services.threads.get(actor, thread_id)).toMatchObject({
    status: 'interrupted',
    values: { x: 1, log: ['a:1', 'noted'] },
    interrupts: {},
  });
});
