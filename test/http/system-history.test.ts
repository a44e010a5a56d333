import { expect, test } from 'vitest';
import { openHistory } from '../../src/http/metrics/history.ts';
import type { EndedRun } from '../../src/schemas/system.ts';
import type { SystemHistory } from '../../src/schemas/system-history.ts';
import { openApp } from '../support/app.ts';
import { ENGINE, PROCESS } from '../support/bare-server.ts';

const OPERATOR = { 'x-api-key': 'operator' };
const START = Date.UTC(2026, 0, 1);
const SECOND = 1000;
const HOUR = 3600 * SECOND;

/** A history on a clock that the test sets. */
function historyAt(engine: Partial<typeof ENGINE> = {}) {
  let now = START;
  const ended: ((run: EndedRun) => void)[] = [];
  const history = openHistory({
    engine: { ...ENGINE, onRunEnded: (listener) => void ended.push(listener), ...engine },
    process: PROCESS.process,
    clock: { now: () => now },
  });
  return {
    ...history,
    end(status: string) {
      for (const listener of ended) listener({ graph_id: 'g', status, ms: 1, queue_ms: undefined });
    },
    async sampleAfter(ms: number) {
      now += ms;
      await history.sample();
    },
    setClock: (ms: number) => {
      now = ms;
    },
  };
}

/** Every list of the answer. */
function listsOf(value: unknown): unknown[][] {
  if (Array.isArray(value)) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listsOf) : [];
}

test('the history of a process has its measurements, with totals since its start', async () => {
  let waiting = 0;
  const history = historyAt({ queueCounts: async () => ({ n_pending: waiting, n_running: 1 }) });
  await history.sampleAfter(10 * SECOND);
  waiting = 5;
  history.end('success');
  history.end('timeout');
  history.requestEnded();
  await history.sampleAfter(10 * SECOND);
  history.end('error');
  history.setClock(START + 24 * SECOND);

  const read = await history.read();
  expect(read).toMatchObject({
    process: PROCESS.process,
    since: '2026-01-01T00:00:00.000Z',
    interval_seconds: 10,
    at: ['2026-01-01T00:00:10.000Z', '2026-01-01T00:00:20.000Z', '2026-01-01T00:00:24.000Z'],
    runs: {
      pending: [0, 5, 5],
      running: [1, 1, 1],
      executing: [1, 1, 1],
      ended_total: [0, 2, 3],
      failed_total: [0, 1, 2],
    },
    requests_total: [0, 1, 1],
    webhooks: { pending: [3, 3, 3], dead: [1, 1, 1] },
  });
  expect(new Set(listsOf(read).map(({ length }) => length))).toEqual(new Set([3]));
});

test('the history of a process is limited to an hour', async () => {
  const history = historyAt();
  for (let n = 0; n < 1000; n++) await history.sampleAfter(10 * SECOND);
  const { at } = await history.read();
  expect(at).toHaveLength(360);
  expect(Date.parse(at.at(-1) as string) - Date.parse(at[0] as string)).toBeLessThan(HOUR);

  // A machine that slept has measured nothing meanwhile.
  await history.sampleAfter(2 * HOUR);
  expect((await history.read()).at).toHaveLength(1);
});

test('the history omits times in the future after the clock was set back', async () => {
  const history = historyAt();
  for (let n = 0; n < 3; n++) await history.sampleAfter(10 * SECOND);
  history.setClock(START + 15 * SECOND);
  expect((await history.read()).at).toEqual(['2026-01-01T00:00:10.000Z', '2026-01-01T00:00:15.000Z']);
});

test('the history continues while the database does not answer, with one pending query', async () => {
  const asked: PromiseWithResolvers<{ n_pending: number; n_running: number }>[] = [];
  const history = historyAt({
    queueCounts() {
      const answer = Promise.withResolvers<{ n_pending: number; n_running: number }>();
      asked.push(answer);
      return answer.promise;
    },
  });
  const first = history.sampleAfter(10 * SECOND);
  await history.sampleAfter(10 * SECOND);
  expect(asked).toHaveLength(1);
  asked[0]?.resolve({ n_pending: 4, n_running: 2 });
  await first;
  history.setClock(START + 25 * SECOND);
  const reading = history.read();
  asked[1]?.reject(new Error('the connection is lost'));
  const { runs, memory_bytes } = await reading;
  expect(runs.pending).toEqual([4, null, null]);
  expect(memory_bytes.every((bytes) => bytes > 0)).toBe(true);
});

test('a server returns the history of its own process, with runs and requests', async () => {
  await using server = await openApp({
    graphs: ['echo', 'fails'],
    environment: { AGENT_SERVER_API_KEYS: 'operator' },
    one_process: 'a process measures what it does itself',
  });
  const read = async (): Promise<SystemHistory> => (await server.get('/system/history', OPERATOR)).body;
  const ended = ({ runs }: SystemHistory) => [runs.ended_total.at(-1), runs.failed_total.at(-1)];
  expect(ended(await read())).toEqual([0, 0]);
  for (const assistant_id of ['echo', 'fails'])
    await server.post('/runs/wait', { assistant_id, input: { x: 1 } }, OPERATOR);
  const history = await read();
  expect(ended(history)).toEqual([2, 1]);
  // The last one may not be over yet.
  expect(history.requests_total.at(-1)).toBeGreaterThanOrEqual(2);
  expect(history.runs.pending.at(-1)).toBe(0);
  const { processes } = (await server.get('/system/overview', OPERATOR)).body;
  expect(processes).toMatchObject([history.process]);
});
