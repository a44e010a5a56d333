import { expect, test } from 'vitest';
import type { HttpClient } from '../support/http-client.ts';
import { type RemoteRun, startRun } from '../support/remote-runs.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { SseEvent } from '../support/sse.ts';
import { until } from '../support/until.ts';
import { CutReader, type CutStream } from './cut-reader.ts';
import { startChaosServer } from './server.ts';

const RUNS = 50;
const TOKENS = 200;
const CUTS_A_STREAM = 4;
/** Four of these are less than the tokens of one attempt, so that every cut happens. */
const MAX_BYTES = 16 * 1024;
const KILLS = 2;

test('streams that are cut at 200 places and by two kills deliver every event once', async () => {
  await using server = await startChaosServer({ N_JOBS_PER_WORKER: String(RUNS) });
  const seed = Math.floor(Math.random() * 2 ** 31);
  const next = seededRandom(seed);
  const clients = await startClients(server.http, server.process.url);
  const reading = clients.map((client) => client.read(places(next)));

  for (let attempt = 1; attempt <= KILLS; attempt++) {
    await until('each stream is on its way', () =>
      clients.every(({ seen }) => eventsOf(seen, attempt) > TOKENS / 5),
    );
    await server.process.kill('SIGKILL');
    await server.process.restart();
  }
  await Promise.all(reading);

  expect(clients.map(({ cuts }) => cuts)).toEqual(Array(RUNS).fill(CUTS_A_STREAM));
  for (const [index, { seen, stream }] of clients.entries()) {
    const message = `seed ${seed}, stream ${index}`;
    const numbers = seen.map(({ id }) => Number(id));
    expect(numbers, message).toEqual(seen.map((_, position) => position + 1));
    const again = new CutReader(server.process.url, stream);
    await again.read([]);
    expect(again.seen, message).toEqual(seen);
    expect(attempts(seen), message).toEqual([1, 2, 3]);
    expect(lastAnswer(seen), message).toEqual(Array.from({ length: TOKENS }, (_, number) => `t${number} `));
  }
});

/** A run for each, all under way at the same time; half of them follow its thread. */
async function startClients(http: HttpClient, url: string) {
  const body = {
    assistant_id: 'tokens',
    input: { count: TOKENS, token_ms: 100 },
    stream_mode: ['messages-tuple', 'values'],
    stream_resumable: true,
  };
  const runs = await Promise.all(Array.from({ length: RUNS }, () => startRun(http, body)));
  const streams = runs.map((run, index) => (index % 2 === 0 ? streamOfRun(run) : streamOfThread(run)));
  return streams.map((stream) => Object.assign(new CutReader(url, stream), { stream }));
}

function streamOfRun({ thread_id, run_id }: RemoteRun): CutStream {
  return { path: `/threads/${thread_id}/runs/${run_id}/stream`, all: '-1' };
}

/** It goes on after the run, whose end is an event. */
function streamOfThread({ thread_id }: RemoteRun): CutStream {
  const isLast = ({ event, data }: SseEvent) => event === 'metadata' && data.includes('run_done');
  return { path: `/threads/${thread_id}/stream`, all: '-', isLast };
}

function places(next: () => number): number[] {
  return Array.from({ length: CUTS_A_STREAM }, () => 1 + Math.floor(next() * MAX_BYTES));
}

function isBegin({ event, data }: SseEvent): boolean {
  return event === 'metadata' && data.includes('attempt');
}

function attempts(events: readonly SseEvent[]): number[] {
  const begins = events.filter(isBegin);
  return begins.map(({ data }) => (JSON.parse(data) as { attempt: number }).attempt);
}

/** How many events of an attempt have come; none before it began. */
function eventsOf(events: readonly SseEvent[], attempt: number): number {
  const begins = events.flatMap((event, position) => (isBegin(event) ? [position] : []));
  return events.length - (begins[attempt - 1] ?? events.length);
}

/**
 * The tokens of the last attempt that said any: it says its step again from the beginning. One that begins after the
 * checkpoint of that step says nothing.
 */
function lastAnswer(events: readonly SseEvent[]): string[] {
  const last = events.findLastIndex((event) => contentOf(event) !== '');
  const begin = events.slice(0, last).findLastIndex(isBegin);
  return events
    .slice(begin)
    .map(contentOf)
    .filter((content) => content !== '');
}

function contentOf({ event, data }: SseEvent): string {
  return event === 'messages' ? (JSON.parse(data) as [{ content: string }])[0].content : '';
}
