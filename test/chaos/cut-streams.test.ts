import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { HttpClient } from '../support/http-client.ts';
import { type RemoteRun, startRun } from '../support/remote-runs.ts';
import type { SseEvent } from '../support/sse.ts';
import { until } from '../support/until.ts';
import { startChaosServer } from './server.ts';

const RUNS = 6;
const TOKENS = 200;

test('streams that are cut again and again, and a kill, bring every event once', async () => {
  await using server = await startChaosServer();
  const { http } = server;
  const seed = Math.floor(Math.random() * 2 ** 31);
  const body = {
    assistant_id: 'tokens',
    input: { count: TOKENS, token_ms: 5 },
    stream_mode: ['messages-tuple', 'values'],
    stream_resumable: true,
  };
  const runs = await Promise.all(Array.from({ length: RUNS }, () => startRun(http, body)));
  const seen = runs.map((): SseEvent[] => []);
  const reading = runs.map((run, index) =>
    readInPieces(http, run, seen[index] as SseEvent[], random(seed + index)),
  );

  await until('each stream is on its way', () => seen.every((events) => events.length > TOKENS / 4));
  await server.process.kill('SIGKILL');
  await server.process.restart();
  await Promise.all(reading);

  for (const [index, run] of runs.entries()) {
    const events = seen[index] as SseEvent[];
    const message = `seed ${seed}, stream ${index}`;
    expect(
      events.map(({ id }) => Number(id)),
      message,
    ).toEqual(events.map((_, position) => position + 1));
    expect(await readAll(http, run), message).toEqual(events);
    expect(attempts(events), message).toEqual([1, 2]);
    expect(lastAnswer(events), message).toEqual(Array.from({ length: TOKENS }, (_, number) => `t${number} `));
  }
});

/** Reads to the end of the run; leaves after a random number of events and comes back with the last id. */
async function readInPieces(
  http: HttpClient,
  run: RemoteRun,
  seen: SseEvent[],
  next: () => number,
): Promise<void> {
  for (;;) {
    let patience = 1 + Math.floor(next() * 40);
    try {
      for await (const event of await open(http, run, seen.at(-1)?.id ?? '-1')) {
        seen.push(event);
        if (--patience === 0) break;
      }
      if (patience > 0) return;
    } catch {
      // The server is away.
      await sleep(20);
    }
  }
}

async function readAll(http: HttpClient, run: RemoteRun): Promise<SseEvent[]> {
  return Array.fromAsync(await open(http, run, '-1'));
}

async function open(http: HttpClient, { thread_id, run_id }: RemoteRun, last_event_id: string) {
  const path = `/threads/${thread_id}/runs/${run_id}/stream`;
  const { status, events } = await http.stream('GET', path, { headers: { 'last-event-id': last_event_id } });
  if (status !== 200) throw new Error(`${path} ${status}`);
  return events;
}

function attempts(events: readonly SseEvent[]): number[] {
  const metadata = events.filter(({ event }) => event === 'metadata');
  return metadata.map(({ data }) => (JSON.parse(data) as { attempt: number }).attempt);
}

/** The tokens of the last attempt: it says its step again from the beginning. */
function lastAnswer(events: readonly SseEvent[]): string[] {
  const begin = events.findLastIndex(({ event }) => event === 'metadata');
  const messages = events.slice(begin).filter(({ event }) => event === 'messages');
  const contents = messages.map(({ data }) => (JSON.parse(data) as [{ content: string }])[0].content);
  return contents.filter((content) => content !== '');
}

/** Numbers in [0, 1) that a seed decides (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
