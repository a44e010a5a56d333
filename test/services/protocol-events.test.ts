import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Frame } from '../../src/events/frame.ts';
import type { Run } from '../../src/schemas/runs.ts';
import { translator } from '../../src/services/event-streaming/protocol-events.ts';
import { partsOf } from '../support/parts-of.ts';

const run_id = randomUUID();
const log = { readAfter: async () => ({ frames: [], isLast: true }), lastSeq: async () => 0 };

/** What clients of event streaming are told of a run's frames, whose numbers on the thread begin after 10. */
async function told(frames: readonly Omit<Frame, 'seq'>[]) {
  const translate = translator({
    runs: partsOf({ get: async () => undefined }),
    log: partsOf(log),
    clock: systemClock,
  });
  const events = [];
  for (const [index, frame] of frames.entries()) {
    const seq = index + 1;
    events.push(...(await translate({ seq: seq + 10, run_id, frame: { seq, ...frame } })));
  }
  return events
    .map(({ text }) => JSON.parse(text))
    .map(({ seq, method, params }) => [seq, method, params.data]);
}

const begins = (attempt: number) => ({ event: 'metadata', data: JSON.stringify({ run_id, attempt }) });
const values = (n: number) => ({ event: 'values', data: JSON.stringify({ n }) });
const end = { event: '__end__', data: '{"status":"success"}' };

test.for([
  ['its server stopped, which costs no attempt', 1],
  ['its worker was lost', 2],
] as const)('a run sends one start event, although %s', async ([_why, attempt]) => {
  expect(await told([begins(1), values(1), begins(attempt), values(2), end])).toEqual([
    [11, 'lifecycle', { event: 'running' }],
    [12, 'values', { n: 1 }],
    [14, 'values', { n: 2 }],
    [15, 'lifecycle', { event: 'completed' }],
  ]);
});

test('a run whose first attempt logged nothing starts with the events of the next one', async () => {
  expect(await told([begins(2), end])).toEqual([
    [11, 'lifecycle', { event: 'running' }],
    [12, 'lifecycle', { event: 'completed' }],
  ]);
});

test('a named custom event is sent unchanged on its own channel', async () => {
  const translate = translator({
    runs: partsOf({ get: async () => undefined }),
    log: partsOf(log),
    clock: systemClock,
  });
  const sent = async (seq: number, data: object) => {
    const frame = { seq, event: 'custom', data: JSON.stringify(data) };
    const [event] = await translate({ seq, run_id, frame });
    return [event?.channel, JSON.parse(event?.text ?? '').params.data];
  };
  await translate({ seq: 1, run_id, frame: { seq: 1, ...begins(1) } });
  expect(await sent(2, { name: 'progress', done: 1 })).toEqual([
    'custom:progress',
    { name: 'progress', done: 1 },
  ]);
  expect(await sent(3, { done: 1 })).toEqual(['custom', { payload: { done: 1 } }]);
});

test('lost events are reported by a custom event, errors of the run by its end', async () => {
  const lost = {
    error: 'EventsLost',
    message: 'Event 12 of this thread was lost in a failure of the database.',
  };
  const failed = { error: 'TypeError', message: 'boom' };
  const error = (data: object) => ({ event: 'error', data: JSON.stringify(data) });
  const failure = { event: '__end__', data: '{"status":"error","error":"boom"}' };
  expect(await told([begins(1), error(lost), error(failed), failure])).toEqual([
    [11, 'lifecycle', { event: 'running' }],
    [12, 'custom', { name: 'EventsLost', payload: lost }],
    [14, 'lifecycle', { event: 'failed', error: 'boom' }],
  ]);
});

test('states of a continued run have the current time, so that clients do not drop them as old', async () => {
  const run = {
    status: 'running',
    created_at: '2026-01-01T00:00:00.000Z',
    kwargs: { config: { configurable: {} } },
  };
  const now = Date.parse('2026-01-02T00:00:00.000Z');
  const translate = translator({
    runs: partsOf({ get: async () => run as unknown as Run }),
    log: partsOf(log),
    clock: { now: () => now, monotonic: () => 0 },
  });
  const [event] = await translate({ seq: 12, run_id, frame: { seq: 2, ...values(1) } });
  expect(JSON.parse(event?.text ?? '').params.timestamp).toBe(now);
});
