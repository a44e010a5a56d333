import { Client } from '@langchain/langgraph-sdk';
import { afterAll, expect, test } from 'vitest';
import { startServer } from '../support/server.ts';

const server = await startServer({
  graphs: {
    echo: 'test/fixtures/graphs/echo.ts:graph',
    fails: 'test/fixtures/graphs/fails.ts:graph',
  },
});
afterAll(() => server[Symbol.asyncDispose]());

const requests: string[] = [];
const client = new Client({
  apiUrl: server.url,
  onRequest(url, init) {
    requests.push(`${init.method ?? 'GET'} ${url.pathname.replace(/[0-9a-f-]{36}/g, '{id}')}`);
    return init;
  },
});

/** What the SDK asks for while it reads a stream to its end. */
async function requestsOf(stream: AsyncIterable<{ event: string }>): Promise<string[]> {
  requests.length = 0;
  const events: string[] = [];
  for await (const { event } of stream) events.push(event);
  expect(events).toContain('values');
  return [...requests];
}

const input = { x: 1 };
const { thread_id } = await client.threads.create();
const STREAM = 'POST /threads/{id}/runs/stream';
const JOINED = 'GET /threads/{id}/runs/{id}/stream';
const RUN = 'GET /threads/{id}/runs/{id}';

async function finishedRun(streamResumable: boolean): Promise<string> {
  const { run_id } = await client.runs.create(thread_id, 'echo', { input, streamResumable });
  if (streamResumable) await client.runs.join(thread_id, run_id);
  return run_id;
}

test('the SDK sends one request for a stream that cannot be resumed', async () => {
  expect(await requestsOf(client.runs.stream(null, 'echo', { input }))).toEqual(['POST /runs/stream']);
  expect(await requestsOf(client.runs.stream(thread_id, 'echo', { input }))).toEqual([STREAM]);
});

test('the SDK sends one request for a stream that ends with an error', async () => {
  expect(await requestsOf(client.runs.stream(thread_id, 'fails', { input }))).toEqual([STREAM]);
  const resumable = client.runs.stream(thread_id, 'fails', { input, streamResumable: true });
  expect(await requestsOf(resumable)).toEqual([STREAM]);
});

test('the SDK sends one more request after the end of a resumable stream', async () => {
  const stream = client.runs.stream(thread_id, 'echo', { input, streamResumable: true });
  expect(await requestsOf(stream)).toEqual([STREAM, RUN]);
  const joined = client.runs.joinStream(thread_id, await finishedRun(true), { lastEventId: '-1' });
  expect(await requestsOf(joined)).toEqual([JOINED, RUN]);
  const stateless = client.runs.stream(null, 'echo', { input, streamResumable: true });
  expect(await requestsOf(stateless)).toEqual(['POST /runs/stream']);
});

test('the SDK sends one request to join a run that cannot be resumed', async () => {
  requests.length = 0;
  const run_id = await finishedRun(false);
  requests.length = 0;
  for await (const _ of client.runs.joinStream(thread_id, run_id));
  expect(requests).toEqual([JOINED]);
});
