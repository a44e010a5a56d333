import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { NotFound } from '../../src/core/errors.ts';
import type { Frame } from '../../src/events/frame.ts';
import type { EventSink } from '../../src/services/event-streaming/subscriber.ts';
import { bareServer } from '../support/bare-server.ts';

const ID = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';
const BEAT = ': heartbeat\r\n\r\n';
const FRAMES: Frame[] = [
  { seq: 1, event: 'metadata', data: '{"run_id":"r","attempt":1}' },
  { seq: 2, event: 'values', data: '{"x":1}' },
];

afterEach(() => {
  vi.useRealTimers();
});

type Follow = (signal: AbortSignal) => AsyncIterable<Frame>;

/** A run whose frames are the test's. */
function runService(follow: Follow, { resumable = false, abandon = async () => {} } = {}) {
  const run = { run_id: ID, thread_id: ID, kwargs: { resumable } };
  return {
    runs: {
      get: async () => run,
      create: async () => run,
      follow: (_run: unknown, signal: AbortSignal) => follow(signal),
      joinStream: async (...args: unknown[]) => follow(args.at(-1) as AbortSignal),
      abandon,
    },
    statelessRuns: { create: async () => run },
  };
}

async function* framesOf(frames: readonly Frame[]): AsyncIterable<Frame> {
  yield* frames;
}

/** Yields what it is given and then nothing, until it is aborted. */
async function* silentAfter(frames: readonly Frame[], signal: AbortSignal): AsyncIterable<Frame> {
  yield* frames;
  if (!signal.aborted) await once(signal, 'abort');
}

const BODY = JSON.stringify({ assistant_id: 'echo', input: {} });

function open(url: string, path = `/threads/${ID}/runs/stream`, body = BODY): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { origin: 'https://a.example', 'content-type': 'application/json' };
    request(url + path, { method: 'POST', headers }, resolve)
      .on('error', reject)
      .end(body);
  });
}

test('a stream of a run has exactly the expected bytes', async () => {
  await using http = await bareServer({ services: runService(() => framesOf(FRAMES)) });
  const answer = await open(await http.listen());
  expect(answer.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    connection: 'keep-alive',
    'x-accel-buffering': 'no',
    'transfer-encoding': 'chunked',
    'content-location': `/threads/${ID}/runs/${ID}`,
    'access-control-allow-origin': '*',
  });
  expect(answer.headers).not.toHaveProperty('location');
  expect(await text(answer)).toBe(
    `${BEAT}event: metadata\r\ndata: {"run_id":"r","attempt":1}\r\n\r\nevent: values\r\ndata: {"x":1}\r\n\r\n`,
  );
});

test('events of a resumable run have ids', async () => {
  await using http = await bareServer({ services: runService(() => framesOf(FRAMES), { resumable: true }) });
  const answer = await http.inject({ method: 'POST', url: '/runs/stream', payload: BODY });
  expect(answer.headers).toMatchObject({ location: `/runs/${ID}/stream`, 'content-location': `/runs/${ID}` });
  expect(answer.body).toContain('event: values\r\ndata: {"x":1}\r\nid: 2\r\n\r\n');
});

test('event streaming uses the line ends of the official JavaScript server', async () => {
  const text = '{"type":"event","seq":4}';
  async function events(_asked: unknown, sink: EventSink) {
    sink.send({ seq: 4, method: 'values', channel: 'values', namespace: [], text });
    await new Promise(() => {});
  }
  await using http = await bareServer({ services: { eventStreaming: { open: async () => ({}), events } } });
  const answer = await open(await http.listen(), `/threads/${ID}/stream/events`, '{"channels":["values"]}');
  let bytes = '';
  for await (const chunk of answer) {
    bytes += chunk;
    if (bytes.includes('id: 4')) break;
  }
  expect(bytes).toBe(`: heartbeat\n\nevent: values\ndata: ${text}\nid: 4\n\n`);
});

test('line breaks inside an event cannot end its line early', async () => {
  const frame = { seq: 1, event: 'cus\r\ntom', data: '{\n"a":"line\u2028 para\u2029 next\u0085"}' };
  await using http = await bareServer({ services: runService(() => framesOf([frame])) });
  const answer = await http.inject({ method: 'POST', url: '/runs/stream', payload: BODY });
  expect(answer.body).toBe(
    `${BEAT}event: custom\r\ndata: { "a":"line\\u2028 para\\u2029 next\\u0085"}\r\n\r\n`,
  );
});

test('a stream sends its headers and a heartbeat at once, then a heartbeat every five seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  await using http = await bareServer({ services: runService((signal) => silentAfter([], signal)) });
  const answer = await open(await http.listen());
  const [first] = await once(answer, 'data');
  expect(String(first)).toBe(BEAT);
  vi.advanceTimersByTime(5000);
  const [second] = await once(answer, 'data');
  expect(String(second)).toBe(BEAT);
  answer.destroy();
});

test('joining a missing run is 404, not a stream', async () => {
  const runs = { get: () => Promise.reject(new NotFound('Not Found')) };
  await using http = await bareServer({ services: { runs } });
  const answer = await http.inject(`/threads/${ID}/runs/${ID}/stream`);
  expect([answer.statusCode, answer.json()]).toEqual([404, { detail: 'Not Found' }]);
});

test('the log of a run is not read ahead for a client that never reads', async () => {
  let asked = 0;
  async function* endless(): AsyncIterable<Frame> {
    for (;;) yield { seq: ++asked, event: 'values', data: JSON.stringify('x'.repeat(100_000)) };
  }
  await using http = await bareServer({ services: runService(endless) });
  const answer = await open(await http.listen());
  answer.pause();
  await vi.waitUntil(() => {
    const before = asked;
    return new Promise((resolve) => setTimeout(() => resolve(asked > 0 && asked === before), 100));
  }, 50_000);
  // What the sockets of both sides buffer, some MB at most.
  expect(asked).toBeLessThan(200);
  answer.destroy();
});

test.each([
  ['cancels the run if on_disconnect says so', 'cancel', 1],
  ['does not affect the run otherwise', 'continue', 0],
])('a streaming client that disconnects %s', async (_what, on_disconnect, times) => {
  const abandon = vi.fn(async () => {});
  const ended = Promise.withResolvers<void>();
  async function* frames(signal: AbortSignal): AsyncIterable<Frame> {
    yield* silentAfter(FRAMES, signal);
    ended.resolve();
  }
  await using http = await bareServer({ services: runService(frames, { abandon }) });
  const body = JSON.stringify({ assistant_id: 'echo', on_disconnect });
  const answer = await open(await http.listen(), undefined, body);
  await once(answer, 'data');
  answer.destroy();
  await ended.promise;
  expect(abandon).toHaveBeenCalledTimes(times);
});

test('a client that disconnects after the end of the stream does not count as disconnected', async () => {
  const abandon = vi.fn(async () => {});
  await using http = await bareServer({ services: runService(() => framesOf(FRAMES), { abandon }) });
  const body = JSON.stringify({ assistant_id: 'echo', on_disconnect: 'cancel' });
  await text(await open(await http.listen(), undefined, body));
  expect(abandon).not.toHaveBeenCalled();
});

test('a closing server aborts its streams, so that clients reconnect', async () => {
  const abandon = vi.fn(async () => {});
  const http = await bareServer({ services: runService((s) => silentAfter(FRAMES, s), { abandon }) });
  const body = JSON.stringify({ assistant_id: 'echo', on_disconnect: 'cancel' });
  const answer = await open(await http.listen(), undefined, body);
  await once(answer, 'data');
  const broken = text(answer);
  await http.server.close();
  await expect(broken).rejects.toThrow('aborted');
  expect(abandon).not.toHaveBeenCalled();
});

test('a closing server lets a resumable stream without events send its first one, whose id the client needs', async () => {
  const closing = Promise.withResolvers<void>();
  async function* late(): AsyncIterable<Frame> {
    await closing.promise;
    yield* FRAMES;
  }
  const http = await bareServer({ services: runService(late, { resumable: true }) });
  const answer = await open(await http.listen());
  const [begun] = (await once(answer, 'data')) as [Buffer];
  const rest = text(answer);
  const closed = http.server.close();
  setImmediate(closing.resolve);
  await closed;
  expect(begun.toString() + (await rest)).toContain('id: 1\r\n');
});

test('a failing event source aborts the stream and is logged', async () => {
  const seen = Promise.withResolvers<void>();
  async function* failing(): AsyncIterable<Frame> {
    yield* FRAMES;
    await seen.promise;
    throw new Error('the log cannot be read');
  }
  await using http = await bareServer({ services: runService(failing) });
  const answer = await open(await http.listen());
  seen.resolve();
  await expect(text(answer)).rejects.toThrow('aborted');
  expect(http.log.filter(({ level }) => level === 'error')).toMatchObject([{ message: 'stream aborted' }]);
});

test.each([
  [undefined, 'now'],
  ['', 'now'],
  ['not an id', 'now'],
  ['5', 5],
  ['-1', 0],
  ['-', 0],
  ['0', 0],
  ['0-0', 0],
])('Last-Event-ID %s resumes after %s', async (last_event_id, after) => {
  const services = runService(() => framesOf([]));
  const joinStream = vi.spyOn(services.runs, 'joinStream');
  await using http = await bareServer({ services });
  const headers = last_event_id === undefined ? {} : { 'last-event-id': last_event_id };
  await http.inject({ url: `/threads/${ID}/runs/${ID}/stream`, headers });
  expect(joinStream.mock.calls[0]?.[3]).toMatchObject({ after });
});

test.each([
  ['?stream_mode=values', ['values']],
  ['?stream_mode=values&stream_mode=updates', ['values', 'updates']],
  ['?stream_mode=values,updates', ['values', 'updates']],
  ['?stream_mode=%5B%22values%22%2C%22updates%22%5D', ['values', 'updates']],
  ['', undefined],
])('the modes of a join are read from %s', async (query, modes) => {
  const services = runService(() => framesOf([]));
  const joinStream = vi.spyOn(services.runs, 'joinStream');
  await using http = await bareServer({ services });
  await http.inject(`/threads/${ID}/runs/${ID}/stream${query}`);
  expect(joinStream.mock.calls[0]?.[3]).toMatchObject({ modes });
});
