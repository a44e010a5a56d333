import { resolve } from 'node:path';
import { expect, test, vi } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { changeService } from '../../src/services/changes.ts';
import { openApp } from '../support/app.ts';
import { partsOf } from '../support/parts-of.ts';
import { postgresSchema, TEST_POSTGRES_URI } from '../support/postgres-schema.ts';
import { startServer } from '../support/server.ts';
import { watchChanges } from '../support/watched-changes.ts';

const OPERATOR = { 'x-api-key': 'operator' };
const environment = { AGENT_SERVER_API_KEYS: 'operator' };

test('an unrestricted caller is notified of every change', async () => {
  await using server = await openApp({ graphs: ['echo'], environment });
  const { url } = await server.app.listen();
  using changes = await watchChanges(url, OPERATOR);

  const { thread_id } = (await server.post('/threads', {}, OPERATOR)).body;
  const run = { assistant_id: 'echo', input: {} };
  const { run_id } = (await server.post(`/threads/${thread_id}/runs`, run, OPERATOR)).body;
  await changes.until('thread', thread_id);
  await changes.until('run', run_id);
  const assistant = (await server.post('/assistants', { graph_id: 'echo' }, OPERATOR)).body;
  await changes.until('assistant', assistant.assistant_id);
  const cron = { assistant_id: 'echo', schedule: '0 8 * * *', input: {} };
  await changes.until('cron', (await server.post('/runs/crons', cron, OPERATOR)).body.cron_id);
  await server.send('PUT', '/store/items', { namespace: ['memories'], key: 'a', value: {} }, OPERATOR);
  await changes.until('item', 'memories/a');
  await server.send('DELETE', '/store/items', { namespace: ['memories'], key: 'a' }, OPERATOR);
  await changes.until('key', (await server.post('/keys', { name: 'a' }, OPERATOR)).body.key_id);
});

test('continuous changes are sent in at most four events a second, without losing any', async () => {
  vi.useFakeTimers();
  const end = new AbortController();
  try {
    const bus = memoryBus();
    const nothing = async () => [];
    const longTermStore = { onChanged: () => {} };
    const service = changeService({
      bus,
      longTermStore,
      visibleIds: nothing,
      storeItems: partsOf({ visible: nothing }),
    });
    const told: string[][] = [];
    const frames = await service.follow(systemActor('a request'), end.signal);
    const reading = (async () => {
      for await (const { event, data } of frames)
        if (event === 'changes') told.push(JSON.parse(data).thread.ids);
    })();
    const ids = Array.from({ length: 300 }, (_, n) => `thread-${n}`);
    for (const id of ids) {
      bus.emit('row.changed', 'thread', id);
      await vi.advanceTimersByTimeAsync(10);
    }
    // The first one is told at once.
    expect(told.length).toBeGreaterThan(6);
    expect(told.length).toBeLessThanOrEqual(1 + 3 * 4);
    await vi.advanceTimersByTimeAsync(1000);
    expect(told.flat()).toEqual(ids);
    end.abort();
    await reading;
  } finally {
    end.abort();
    vi.useRealTimers();
  }
});

test('the stream of changes reports changed values and a deleted thread', async () => {
  await using server = await openApp({ graphs: ['echo'], environment });
  const { url } = await server.app.listen();
  const { thread_id } = (await server.post('/threads', {}, OPERATOR)).body;
  await server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'echo', input: {} }, OPERATOR);
  {
    using changes = await watchChanges(url, OPERATOR);
    await server.post(`/threads/${thread_id}/state`, { values: { count: 3 } }, OPERATOR);
    await changes.until('thread', thread_id);
  }
  using changes = await watchChanges(url, OPERATOR);
  await server.send('DELETE', `/threads/${thread_id}`, undefined, OPERATOR);
  await changes.until('thread', thread_id);
});

test('users are notified only of their own rows', async () => {
  const folder = resolve(import.meta.dirname, '../fixtures/auth');
  await using server = await openApp({ graphs: ['echo'], folder, environment });
  const { url } = await server.app.listen();
  const alice = { authorization: 'Bearer alice-token' };
  const bob = { authorization: 'Bearer bob-token' };
  using changes = await watchChanges(url, alice);

  const ofBob = (await server.post('/threads', {}, bob)).body.thread_id;
  await server.post(`/threads/${ofBob}/runs/wait`, { assistant_id: 'echo', input: {} }, bob);
  await server.post('/keys', { name: 'a' }, OPERATOR);
  const ofAlice = (await server.post('/threads', {}, alice)).body.thread_id;
  const run = { assistant_id: 'echo', input: {} };
  const { run_id } = (await server.post(`/threads/${ofAlice}/runs`, run, alice)).body;
  for (const [key, user] of [
    ['of-bob', bob],
    ['of-alice', alice],
  ] as const)
    await server.send('PUT', '/store/items', { namespace: ['memories'], key, value: {} }, user);
  await changes.until('run', run_id);
  await changes.until('thread', ofAlice);
  await changes.until('item', 'alice/memories/of-alice');
  expect([...changes.seen.keys()].toSorted()).toEqual(['item', 'run', 'thread']);
  expect([...(changes.seen.get('item') ?? [])]).toEqual(['alice/memories/of-alice']);
  expect([...(changes.seen.get('thread') ?? [])]).toEqual([ofAlice]);
  expect([...(changes.seen.get('run') ?? [])]).toEqual([run_id]);
});

test('the stream of changes ends when the server stops', async () => {
  const server = await openApp({ graphs: ['echo'], environment });
  const { url } = await server.app.listen();
  using changes = await watchChanges(url, OPERATOR);
  const [, ended] = await Promise.all([server[Symbol.asyncDispose](), changes.ended()]);
  expect(ended).toBeUndefined();
});

test.runIf(TEST_POSTGRES_URI)('the stream of changes reports those of another process', async () => {
  await using schema = await postgresSchema(TEST_POSTGRES_URI as string);
  const graphs = { echo: 'test/fixtures/graphs/echo.ts:graph' };
  const env = { DATABASE_URI: schema.url };
  // The first one makes the tables.
  await using one = await startServer({ graphs, env });
  await using two = await startServer({ graphs, env });
  using changes = await watchChanges(one.url);

  const { thread_id } = await two.client.threads.create();
  await changes.until('thread', thread_id);
  const { run_id } = await two.client.runs.create(thread_id, 'echo', { input: {} });
  await changes.until('run', run_id);
});
