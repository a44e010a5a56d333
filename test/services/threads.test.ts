import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { ThreadCreate, ThreadSearch } from '../../src/schemas/threads.ts';
import { openServices } from '../support/services.ts';

const actor = systemActor('test');
const MISSING = '00000000-0000-7000-8000-000000000000';
const FRESH = ThreadCreate.parse({});

test('a new thread has exactly the fields of the contract', async () => {
  await using services = await openServices();
  const thread = await services.threads.create(actor, FRESH);
  expect(thread).toEqual({
    thread_id: expect.stringMatching(/^[0-9a-f-]{14}7[0-9a-f-]{21}$/),
    created_at: expect.any(String),
    updated_at: thread.created_at,
    state_updated_at: thread.created_at,
    metadata: {},
    status: 'idle',
    config: {},
    values: null,
  });
  expect(await services.threads.get(actor, thread.thread_id)).toEqual(thread);
});

test('creating a thread with a taken id is a conflict, or returns the stored thread unchanged on request', async () => {
  await using services = await openServices();
  const first = await services.threads.create(actor, ThreadCreate.parse({ metadata: { first: true } }));
  const again = ThreadCreate.parse({ thread_id: first.thread_id, metadata: { second: true } });
  await expect(services.threads.create(actor, again)).rejects.toMatchObject({
    status: 409,
    message: `Thread with ID ${first.thread_id} already exists`,
  });
  expect(await services.threads.create(actor, { ...again, if_exists: 'do_nothing' })).toEqual(first);
});

test('metadata of a thread loses keys of the server and keeps others', async () => {
  await using services = await openServices();
  const reserved = { thread_id: 'x', run_id: 'x', cron_id: 'x', assistant_id: 'x' };
  const kept = { graph_id: 'echo', created_by: 'me', langgraph_auth_user_id: 'u' };
  const thread = await services.threads.create(
    actor,
    ThreadCreate.parse({ metadata: { ...reserved, ...kept } }),
  );
  expect(thread.metadata).toEqual(kept);
  const changed = await services.threads.update(actor, thread.thread_id, {
    metadata: { ...reserved, more: null },
  });
  expect(changed.metadata).toEqual({ ...kept, more: null });
});

test('updating a thread merges metadata shallowly and always changes updated_at', async () => {
  await using services = await openServices();
  const thread = await services.threads.create(
    actor,
    ThreadCreate.parse({ metadata: { a: { x: 1 }, b: 1 } }),
  );
  services.clock.advance(1000);
  const changed = await services.threads.update(actor, thread.thread_id, { metadata: { a: { y: 2 } } });
  expect(changed.metadata).toEqual({ a: { y: 2 }, b: 1 });
  services.clock.advance(1000);
  const touched = await services.threads.update(actor, thread.thread_id, {});
  expect(Date.parse(touched.updated_at) - Date.parse(thread.updated_at)).toBe(2000);
  expect(touched).toMatchObject({ created_at: thread.created_at, state_updated_at: thread.state_updated_at });
});

test('a missing thread is an error with the message of each operation', async () => {
  await using services = await openServices();
  const { threads } = services;
  const named = { status: 404, message: `Thread with ID ${MISSING} not found` };
  await expect(threads.get(actor, MISSING)).rejects.toMatchObject(named);
  await expect(threads.delete(actor, MISSING)).rejects.toMatchObject(named);
  await expect(threads.update(actor, MISSING, {})).rejects.toMatchObject({
    status: 404,
    message: 'Not Found',
  });
  await expect(threads.copy(actor, MISSING)).rejects.toMatchObject({ status: 409, message: 'Conflict' });
});

test('a thread is busy while a run is in flight, and its deletion notifies the worker', async () => {
  await using services = await openServices();
  const { thread_id } = await services.threads.create(actor, FRESH);
  const run = await services.runs.create(actor, thread_id, { assistant_id: 'echo' }, 'background');
  expect(await services.threads.get(actor, thread_id)).toMatchObject({ status: 'busy' });
  await services.threads.delete(actor, thread_id);
  expect(services.stopped).toEqual([run.run_id]);
  await expect(services.threads.get(actor, thread_id)).rejects.toMatchObject({ status: 404 });
  await expect(services.runs.get(actor, thread_id, run.run_id)).rejects.toMatchObject({ status: 404 });
});

test('a search of threads is a page whose total shows only whether more follow', async () => {
  await using services = await openServices();
  for (let n = 0; n < 5; n += 1) {
    services.clock.advance(1);
    await services.threads.create(actor, ThreadCreate.parse({ metadata: { n, of: 'five' } }));
  }
  const query = { metadata: { of: 'five' }, limit: 2, select: ['metadata'] };
  const first = await services.threads.search(actor, ThreadSearch.parse(query));
  expect(first).toEqual({
    items: [{ metadata: { n: 4, of: 'five' } }, { metadata: { n: 3, of: 'five' } }],
    next: 2,
    total: 3,
  });
  const last = await services.threads.search(actor, ThreadSearch.parse({ ...query, offset: 4 }));
  expect(last).toEqual({ items: [{ metadata: { n: 0, of: 'five' } }], next: undefined, total: 5 });
  const beyond = await services.threads.search(actor, ThreadSearch.parse({ ...query, offset: 50 }));
  expect(beyond).toEqual({ items: [], next: undefined, total: 50 });
  expect(await services.threads.count(actor, { metadata: { of: 'five' } })).toBe(5);
});

test('extract reads paths of values and metadata regardless of the selection', async () => {
  await using services = await openServices();
  const { thread_id } = await services.threads.create(
    actor,
    ThreadCreate.parse({ metadata: { graph_id: 'counter', owner: 'ada' } }),
  );
  await services.threadState.update(actor, thread_id, {
    values: { total: 3, seen: ['a', 'b'] },
    as_node: 'count',
  });
  const extract = { last: 'values.seen[-1]', owner: 'metadata.owner', all: 'values.seen[*]' };
  const search = (select?: string[]) =>
    services.threads.search(actor, ThreadSearch.parse({ ids: [thread_id], extract, select }));
  const extracted = { last: 'b', owner: 'ada', all: null };
  expect((await search(['thread_id'])).items).toEqual([{ thread_id, extracted }]);
  expect((await search()).items).toMatchObject([
    { thread_id, values: { total: 3, seen: ['a', 'b'] }, extracted },
  ]);
});

test('a copied thread has its own id and the state of its source, but not the runs', async () => {
  await using services = await openServices();
  const source = await services.threads.create(
    actor,
    ThreadCreate.parse({ metadata: { graph_id: 'counter', owner: 'ada' } }),
  );
  await services.threadState.update(actor, source.thread_id, { values: { total: 3 }, as_node: 'count' });
  await services.runs.create(actor, source.thread_id, { assistant_id: 'counter' }, 'background');
  const copy = await services.threads.copy(actor, source.thread_id);
  expect(copy.thread_id).toMatch(/^[0-9a-f-]{14}4/);
  expect(copy).toMatchObject({
    status: 'idle',
    config: {},
    values: { total: 3 },
    metadata: { owner: 'ada' },
  });
  expect(await services.runs.list(actor, copy.thread_id, { limit: 10, offset: 0 })).toEqual([]);
  const history = { limit: 10 };
  const [copied] = await services.threadState.history(actor, copy.thread_id, history);
  expect(copied).toMatchObject({ values: { total: 3 }, checkpoint: { thread_id: copy.thread_id } });
});

test('a search of threads ignores fields of its body that only the server sets', async () => {
  await using services = await openServices();
  const thread = await services.threads.create(actor, ThreadCreate.parse({}));
  const fields = { parts: { a: 'x' }, after: { sort: '', id: '' }, has_keys: true };
  const { items } = await services.threads.search(actor, ThreadSearch.parse(fields));
  expect(items).toEqual([thread]);
});
