import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { immediate, yieldToEventLoop } from '../../src/core/event-loop.ts';
import type { CommitMode, Db } from '../../src/db/db.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { queueStory, WORKER } from '../support/queued-runs.ts';
import { until } from '../support/until.ts';

/** What work costs here: time passes when the test says so, and timers are called in the next turn of the event loop. */
let now = 0;
beforeEach(() => {
  now = performance.now();
  vi.spyOn(systemClock, 'monotonic').mockImplementation(() => now);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describeEachDatabase('the write buffer of an attempt', (open) => {
  test('is committed every 200 ms while graphs keep the event loop busy, not at each turn', async () => {
    await using db = await open();
    const { writes, committed, commits } = await claimedRun(db);
    using _ = writes;

    let called_at = now;
    for (let seq = 1; commits.mock.calls.length === 0 && seq < 10_000; seq++) {
      now += 10;
      writes.addFrame({ seq, event: 'values', data: '{}' }, false);
      const turn = yieldToEventLoop();
      if (!turn) continue;
      await turn;
      vi.advanceTimersByTime(now - called_at);
      called_at = now;
    }

    vi.useRealTimers();
    await until('it is committed', () => committed.length > 0);
    // Two or three of these frames fit into a turn.
    expect(committed[0]).toBeGreaterThanOrEqual(20);
    expect(committed[0]).toBeLessThanOrEqual(24);
    await writes.commit();
  });

  test('waits 200 ms for its commit while many short turns leave the event loop no time', async () => {
    await using db = await open();
    const { writes, committed, commits } = await claimedRun(db);
    using _ = writes;
    writes.addFrame({ seq: 1, event: 'values', data: '{}' }, false);

    for (let turns = 1; turns <= 210; turns++) {
      expect(commits, `${turns} ms`).toHaveBeenCalledTimes(turns > 200 ? 1 : 0);
      now += 1;
      // A timer that is late.
      if (turns % 10 === 0) vi.advanceTimersByTime(10);
      await immediate();
    }
    vi.useRealTimers();
    await until('it is committed', () => committed.length > 0);
    expect(committed).toEqual([1]);
  });

  test('waits 200 ms for its commit while the host that executes the graph is busy, and no longer', async () => {
    await using db = await open();
    const { writes, committed, commits } = await claimedRun(db);
    using _ = writes;
    writes.executedElsewhere(() => true);

    writes.addFrame({ seq: 1, event: 'values', data: '{}' }, false);
    for (let passed_ms = 10; passed_ms <= 200; passed_ms += 10) {
      expect(commits).not.toHaveBeenCalled();
      now += 10;
      vi.advanceTimersByTime(10);
      await immediate();
    }

    expect(commits).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
    await until('it is committed', () => committed.length > 0);
    expect(committed).toEqual([1]);
  });
});

describeEachDatabase('frames of a resumable run', (open) => {
  test('are on disk before followers get them', async () => {
    await using db = await open();
    const commits: CommitMode[] = [];
    const noting: Db = {
      ...db,
      dialect: db.dialect,
      cipher: db.cipher,
      all: (query) => db.all(query),
      get: (query) => db.get(query),
      run: (query, durability) => db.run(query, durability),
      transaction(durability, body) {
        commits.push(durability);
        return db.transaction(durability, body);
      },
      [Symbol.asyncDispose]: async () => {},
    };
    const { queue, add } = queueStory(db);
    await add(randomUUID());
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const shown = Promise.withResolvers<void>();
    const options = { resumable: true, onCommitted: () => shown.resolve(), onError: shown.reject };
    using writes = new WriteBuffer(noting, claimed!.lease, options);
    writes.addFrame({ seq: 1, event: 'values', data: '{}' }, true);
    await shown.promise;
    expect(commits).toEqual(['sync']);
  });
});

/**
 * The write buffer of a run that was claimed, how many frames each of its commits had, and a spy on transactions, which
 * sees a commit when it begins. Timers stand still from here on.
 */
async function claimedRun(db: Db) {
  const { queue, add } = queueStory(db);
  await add(randomUUID());
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  const committed: number[] = [];
  const commits = vi.spyOn(db, 'transaction');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const writes = new WriteBuffer(db, (claimed as ClaimedRun).lease, {
    onCommitted: ({ frames }) => void committed.push(frames.length),
    onError: (error) => {
      throw error;
    },
  });
  return { writes, committed, commits };
}
