import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Unavailable } from '../../src/core/errors.ts';
import { Latch } from '../../src/core/latch.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { type Position, SafetyPoll } from '../../src/events/safety-poll.ts';
import { LiveRuns } from '../../src/events/writer.ts';
import { insertFrames } from '../../src/storage/runs/events.ts';
import { type LogEnds, logEnds } from '../../src/storage/runs/log-positions.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { queueStory, successful, WORKER } from '../support/queued-runs.ts';
import { until } from '../support/until.ts';

const signal = () => AbortSignal.timeout(50_000);

/** Counts what is asked. */
function counted(ends: LogEnds) {
  const asked: string[][] = [];
  const counting: LogEnds = {
    ofRuns: (ids) => {
      asked.push([...ids]);
      return ends.ofRuns(ids);
    },
    ofThreads: (ids) => {
      asked.push([...ids]);
      return ends.ofThreads(ids);
    },
  };
  return { asked, ends: counting };
}

const NONE: LogEnds = { ofRuns: async () => [], ofThreads: async () => [] };

function followers(poll: SafetyPoll, count: number, position: Position) {
  return Promise.all(Array.from({ length: count }, () => poll.wait(position, new Latch(), signal())));
}

describeEachDatabase('the poll for followers of logs', (open) => {
  test('polls once for thousands of followers, and notifies each of entries after its own position', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    if (!claimed) throw new Error('nothing to claim');
    const { asked, ends } = counted(logEnds(db));
    const poll = new SafetyPoll(ends, new LiveRuns(), memoryBus());

    const frames = [1, 2].map((seq) => ({ seq, event: 'custom', data: '1' }));
    await db.transaction('async', (tx) => insertFrames(tx, run_id, frames));
    const silent = followers(poll, 1000, { of: 'run', id: run_id, seq: 2 });
    const others = followers(poll, 1000, { of: 'thread', id: thread_id, seq: 1 });
    expect(await others).toEqual(Array(1000).fill(true));
    expect(asked).toEqual([[run_id], [thread_id]]);

    await queue.finish(claimed.lease, successful());
    expect(await silent).toEqual(Array(1000).fill(false));
    expect(
      asked
        .slice(2)
        .flat()
        .every((id) => id === run_id),
    ).toBe(true);
  });

  test('handles more logs than fit into one statement, and deleted ones', async () => {
    await using db = await open();
    const { add } = queueStory(db);
    const waiting = await Promise.all(Array.from({ length: 3 }, () => add(randomUUID())));
    const gone = Array.from({ length: 1100 }, () => randomUUID());
    const ends = await logEnds(db).ofRuns([...gone, ...waiting]);
    expect(ends).toHaveLength(1103);
    expect(ends.filter(({ in_flight }) => in_flight).map(({ run_id }) => run_id)).toEqual(waiting);
    expect(await logEnds(db).ofThreads(gone)).toEqual(gone.map((thread_id) => ({ thread_id, last: 0 })));
  });
});

/** Log ends that are away until they are not, and how often they were asked for meanwhile. */
function away(ends: Partial<LogEnds> = {}) {
  let isAway = true;
  const there = { ...NONE, ...ends };
  const look: LogEnds['ofRuns'] = async (ids) => {
    if (!isAway || ids.length === 0) return there.ofRuns(ids);
    state.failures += 1;
    throw new Unavailable('away');
  };
  const state = { failures: 0, ends: { ...there, ofRuns: look }, back: () => (isAway = false) };
  return state;
}

test('a follower keeps waiting while polls fail, and gets the missed events from the next successful poll', async () => {
  const database = away({ ofRuns: async (ids) => ids.map((run_id) => ({ run_id, last: 7, in_flight: 1 })) });
  const live = new LiveRuns();
  const here = randomUUID();
  using run = live.open(here, 3);
  const bus = memoryBus('frequent');
  const poll = new SafetyPoll(database.ends, live, bus);
  const opened = new Latch();
  const whole = poll.wait({ of: 'run', id: here, seq: 3 }, opened, signal());
  const behind = followers(poll, 3, { of: 'run', id: randomUUID(), seq: 2 });

  await until('two polls failed', () => database.failures >= 2);
  run.push({ seq: 4, event: 'custom', data: '1' });
  opened.open();
  expect(await whole).toBe(true);
  database.back();
  expect(await behind).toEqual([true, true, true]);
});

test('after half a minute without the database, only followers that need it get an error', async () => {
  const database = away();
  const live = new LiveRuns();
  const here = randomUUID();
  using _run = live.open(here, 3);
  let now = 0;
  const poll = new SafetyPoll(database.ends, live, memoryBus('frequent'), { monotonic: () => now });
  const left = new AbortController();
  const whole = poll.wait({ of: 'run', id: here, seq: 3 }, new Latch(), left.signal);
  let isTold = false;
  const behind = followers(poll, 3, { of: 'run', id: randomUUID(), seq: 0 });
  behind.catch(() => (isTold = true));

  await until('a poll failed', () => database.failures >= 1);
  now = 29_999;
  await until('another one failed', () => database.failures >= 3);
  expect(isTold).toBe(false);
  now = 30_000;
  await expect(behind).rejects.toThrow('away');
  left.abort();
  expect(await whole).toBe(true);
});

test('polls include only followers that are behind, not those up to date with a local run', async () => {
  const { asked, ends } = counted({
    ...NONE,
    ofRuns: async ([run_id = '']) => [{ run_id, last: 3, in_flight: 1 }],
  });
  const live = new LiveRuns();
  const run_id = randomUUID();
  using _run = live.open(run_id, 3);
  const poll = new SafetyPoll(ends, live, memoryBus());
  const patience = AbortSignal.timeout(1200);
  expect(await poll.wait({ of: 'run', id: run_id, seq: 3 }, new Latch(), patience)).toBe(true);
  expect(asked.flat()).toEqual([]);
  // Memory has the newest frames only: the others are in the log, when it has them.
  expect(await poll.wait({ of: 'run', id: run_id, seq: 1 }, new Latch(), signal())).toBe(true);
  expect(asked.flat()).toContain(run_id);
});
