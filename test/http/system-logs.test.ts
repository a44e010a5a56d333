import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { LogLine } from '../../src/schemas/run-logs.ts';
import { openApp } from '../support/app.ts';
import { sseEvents } from '../support/sse.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };

const server = await openApp({ graphs: ['prints'], folder });
const { url } = await server.app.listen();
afterAll(() => server[Symbol.asyncDispose]());

/** Executes a run that prints a line of each level; its id. */
async function print(headers: Record<string, string>, assistant_id = 'prints', what = 'each_method') {
  const { thread_id } = (await server.post('/threads', {}, headers)).body;
  const body = { assistant_id, input: { what } };
  const answer = await server.post(`/threads/${thread_id}/runs/wait`, body, headers);
  return String(answer.headers['content-location']).split('/').at(-1) ?? '';
}

/** The stream of all lines, from its `ready` on. */
async function watch(query: string, headers: Record<string, string>, address = url) {
  const end = new AbortController();
  const response = await fetch(`${address}/system/logs${query}`, { headers, signal: end.signal });
  const text = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  const events = sseEvents(text as unknown as AsyncIterable<string>);
  expect((await events.next()).value).toMatchObject({ event: 'ready' });
  return {
    async take(count: number): Promise<LogLine[]> {
      const lines: LogLine[] = [];
      while (lines.length < count) {
        const { value, done } = await events.next();
        if (done) throw new Error(`the stream ended after ${lines.length} lines`);
        lines.push(JSON.parse((value as { data: string }).data));
      }
      return lines;
    },
    [Symbol.dispose]: () => end.abort(),
  };
}

test('the stream of logs has the new lines of every run once, in order', async () => {
  await print(ALICE);
  using logs = await watch('', ALICE);
  const [first, second] = [await print(ALICE), await print(ALICE)];
  const lines = await logs.take(10);
  const of = (run_id: string) => lines.filter((line) => line.run_id === run_id).map(({ seq }) => seq);
  expect([of(first), of(second)]).toEqual([
    [1, 2, 3, 4, 5],
    [1, 2, 3, 4, 5],
  ]);
  const third = await print(ALICE);
  expect((await logs.take(5)).map(({ run_id, seq }) => [run_id, seq])).toEqual(
    [1, 2, 3, 4, 5].map((n) => [third, n]),
  );
});

test('the stream of logs has the lines of a run even if they are deleted at once with its thread', async () => {
  await using open = await openApp({ graphs: ['prints'] });
  const address = await open.app.listen();
  using logs = await watch('', {}, address.url);
  await open.post('/runs/wait', { assistant_id: 'prints', input: { what: 'each_method' } });

  const lines = await logs.take(5);
  expect(lines.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  expect((await open.get(`/runs/${lines[0]?.run_id}/logs`)).status).toBe(404);

  const other = await open.post('/threads', {});
  const path = `/threads/${other.body.thread_id}/runs/wait`;
  await open.post(path, { assistant_id: 'prints', input: { what: 'each_method' } });
  expect((await logs.take(5)).map(({ thread_id }) => thread_id)).toEqual(
    Array.from({ length: 5 }, () => other.body.thread_id),
  );
});

test('the stream of logs gives users only lines of their own runs', async () => {
  using logs = await watch('', BOB);
  await print(ALICE);
  const own = await print(BOB);
  const lines = await logs.take(5);
  expect(new Set(lines.map(({ run_id }) => run_id))).toEqual(new Set([own]));
});

test('the stream of logs gives users lines of their own runs that are deleted with their thread', async () => {
  using logs = await watch('', BOB);
  const body = { assistant_id: 'prints', input: { what: 'each_method' } };
  await server.post('/runs/wait', body, ALICE);
  const answer = await server.post('/runs/wait', { ...body, metadata: { name: 'of bob' } }, BOB);
  const own = String(answer.headers['content-location']).split('/').at(-1);
  const lines = await logs.take(5);
  expect(lines.map(({ run_id, seq }) => [run_id, seq])).toEqual([1, 2, 3, 4, 5].map((seq) => [own, seq]));
  expect(Object.keys(lines[0] ?? {})).not.toContain('thread_metadata');
});

test('the stream of logs can be filtered by level and assistant', async () => {
  const { assistant_id } = (await server.post('/assistants', { graph_id: 'prints' }, ALICE)).body;
  using logs = await watch(`?assistant_id=${assistant_id}&level=warn`, ALICE);
  using ofGraph = await watch('?assistant_id=prints&level=error', ALICE);
  await print(ALICE);
  await print(ALICE, assistant_id);
  expect(await logs.take(2)).toMatchObject([
    { assistant_id, level: 'warn', message: 'a warn line' },
    { assistant_id, level: 'error', message: 'an error line' },
  ]);
  const [line] = await ofGraph.take(1);
  expect([line?.level, line?.assistant_id === assistant_id]).toEqual(['error', false]);
});

test('the stream of logs refuses an invalid assistant or level', async () => {
  expect((await server.get('/system/logs?assistant_id=nobody', ALICE)).status).toBe(422);
  expect((await server.get('/system/logs?level=loud', ALICE)).status).toBe(422);
});
