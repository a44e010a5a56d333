import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { HELD_BACK, LARGE, standstill, uploadSlowly } from '../support/slow-bodies.ts';
import { until } from '../support/until.ts';

const folder = resolve(import.meta.dirname, '../fixtures/own-app');
const APPS = ['./streams.ts:hono', './streams.ts:handler'];

async function open(app: string) {
  const server = await openApp({ graphs: [], folder, http: { app }, server: { body_limit: 2 * LARGE } });
  const url = await server.app.server.listen({ host: '127.0.0.1', port: 0 });
  const counts = async (): Promise<Seen> => (await fetch(`${url}/own/seen`)).json() as Promise<Seen>;
  // In one process, the app of another test may have counted before.
  const before = await counts();
  const seen = async (what: keyof Seen) => (await counts())[what] - before[what];
  return { url, seen, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

interface Seen {
  readonly sent: number;
  readonly waiting: number;
  readonly gone: number;
}

test.each(APPS)('%s: the custom app produces a download only as fast as the client reads it', async (app) => {
  await using server = await open(app);
  const response = await fetch(`${server.url}/own/endless`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  expect(await standstill(() => server.seen('sent'))).toBeLessThan(HELD_BACK);
  let read = 0;
  while (read < LARGE) read += (await reader.read()).value?.length ?? 0;
  expect(await server.seen('sent')).toBeGreaterThanOrEqual(LARGE);
  await reader.cancel();
  await until('the app hears that nobody reads', async () => (await server.seen('gone')) === 1);
});

test('an upload is read only as fast as a Node handler of the custom app reads it', async () => {
  await using server = await open('./streams.ts:handler');
  await uploadSlowly(server.url);
});

test.each(APPS)('%s is notified when a client disconnects', async (app) => {
  await using server = await open(app);
  const gone = new AbortController();
  const answer = fetch(`${server.url}/own/waits`, { signal: gone.signal });
  answer.catch(() => {});
  await until('the request has arrived', async () => (await server.seen('waiting')) === 1);
  expect(await server.seen('gone')).toBe(0);
  gone.abort();
  await until('the app hears of it', async () => (await server.seen('gone')) === 1);
});
