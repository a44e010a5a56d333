import type { Client } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyMethod } from '../support/every-method.ts';
import { printedBy, python } from '../support/python.ts';
import { SDKS } from '../support/sdks.ts';
import { startServer, type TestServer } from '../support/server.ts';

type Counter = { total: number };

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());

test.each(SDKS)('JavaScript SDK %s: every method of threads', async (sdk, Sdk) => {
  const client = new Sdk({ apiUrl: server.url });
  const { part: threads, uncalled } = everyMethod(client.threads);
  const metadata = { sdk };

  const thread_id = crypto.randomUUID();
  const made = await threads.create({
    threadId: thread_id,
    graphId: 'counter',
    metadata,
    supersteps: [{ updates: [{ values: { total: 1 }, asNode: 'count' }] }],
  });
  expect(made).toMatchObject({ thread_id, metadata: { ...metadata, graph_id: 'counter' }, status: 'idle' });
  await expect(threads.create({ threadId: thread_id })).rejects.toThrow('409');
  expect(await threads.create({ threadId: thread_id, ifExists: 'do_nothing' })).toMatchObject({ thread_id });
  await threads.update(thread_id, { metadata: { changed: true } });
  expect(await threads.get(thread_id)).toMatchObject({
    metadata: { ...metadata, changed: true },
    values: { total: 1 },
  });

  const state = await threads.getState<Counter>(thread_id);
  expect(state.values.total).toBe(1);
  const update = await threads.updateState(thread_id, { values: { total: 4 }, asNode: 'count' });
  const after = await threads.getState<Counter>(thread_id, update.configurable as never);
  expect(after.values.total).toBe(5);
  await threads.patchState(thread_id, { patched: true });
  const history = await threads.getHistory<Counter>(thread_id, { limit: 10, metadata: { source: 'update' } });
  expect(history.map(({ values }) => values.total)).toEqual([5, 1]);
  const older = await threads.getHistory<Counter>(thread_id, { before: { configurable: after.checkpoint } });
  expect(older[0]?.values.total).toBe(1);

  const copy = await threads.copy(thread_id);
  expect(await threads.get(copy.thread_id)).toMatchObject({ metadata: { sdk, patched: true } });
  expect(await threads.count({ metadata })).toBe(2);
  expect(await threads.count({ metadata, values: { total: 5 }, status: 'idle' })).toBe(2);
  const query = { metadata, status: 'idle', sortBy: 'created_at', sortOrder: 'desc' } as const;
  const [newest, ...rest] = await threads.search({ ...query, limit: 1, offset: 0 });
  expect([newest?.thread_id, rest]).toEqual([copy.thread_id, []]);
  const [selected] = await threads.search({
    ids: [thread_id],
    values: { total: 5 },
    select: ['thread_id', 'status'],
    extract: { total: 'values.total' },
  });
  // 2.0 does not know `extract`.
  const extracted = sdk === '2.0' ? {} : { extracted: { total: 5 } };
  expect(selected).toEqual({ thread_id, status: 'idle', ...extracted });

  await threads.delete(copy.thread_id);
  await expect(threads.get(copy.thread_id)).rejects.toThrow('404');
  expect(await firstEvents(threads, client, thread_id)).toEqual(['metadata', 'values']);
  if ('prune' in client.threads) {
    expect(await threads.prune([thread_id], { strategy: 'delete' })).toEqual({ pruned_count: 1 });
  }
  // `stream` makes an object that speaks the newer protocol: event-streaming.test.ts.
  expect(uncalled().filter((name) => name !== 'stream')).toEqual([]);
});

/** What a follower of the thread sees first of a run that begins after it. */
async function firstEvents(threads: Client['threads'], client: Client, thread_id: string): Promise<string[]> {
  const leave = new AbortController();
  const seen: string[] = [];
  const following = threads.joinStream(thread_id, {
    lastEventId: '-',
    streamMode: ['run_modes'],
    signal: leave.signal,
  });
  await client.runs.create(thread_id, 'counter', {
    input: { total: 1 },
    streamMode: ['values'],
    streamResumable: true,
  });
  for await (const { event } of following) {
    seen.push(event);
    if (seen.length === 2) break;
  }
  leave.abort();
  return seen;
}

test.runIf(python)('Python SDK: every method of threads', async () => {
  expect(await printedBy('python_threads.py', server.url)).toEqual({
    made: [{ py: true, graph_id: 'counter' }, 'idle'],
    conflict: 409,
    updated: true,
    minimal: null,
    ttl: ['delete', 60],
    totals: [1, 5],
    history: [5, 1],
    older: 1,
    copied: { py: true, changed: true, again: true, graph_id: 'counter' },
    count: 2,
    newest: true,
    selected: { status: 'idle', extracted: { total: 5 } },
    events: ['metadata', 'values'],
    pruned: 1,
    gone: 404,
    uncalled: ['stream'],
  });
});
