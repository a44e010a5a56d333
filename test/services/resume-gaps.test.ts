import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Db } from '../../src/db/db.ts';
import { memoryBus } from '../../src/events/bus.ts';
import type { ThreadFollowSources } from '../../src/events/follow-thread.ts';
import { threadBroadcasts } from '../../src/services/event-streaming/broadcast.ts';
import { eventFilter } from '../../src/services/event-streaming/filter.ts';
import { translator } from '../../src/services/event-streaming/protocol-events.ts';
import { Subscriber } from '../../src/services/event-streaming/subscriber.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import { insertFrames, runEventRepository } from '../../src/storage/runs/events.ts';
import { runRepository } from '../../src/storage/runs/runs.ts';
import { threadLogRepository } from '../../src/storage/runs/thread-log.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { liveSources } from '../support/live-sources.ts';
import { queueStory, successful, WORKER } from '../support/queued-runs.ts';

/** A run that is executed, on a thread of its own. */
async function executing(db: Db) {
  const { queue, add } = queueStory(db);
  const thread_id = randomUUID();
  await add(thread_id);
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  return { queue, thread_id, lease: (claimed as ClaimedRun).lease };
}

describeEachDatabase('a client of event streaming that resumes', (open) => {
  test('receives the gap in place of the lost events, and the number of past ones', async () => {
    await using db = await open();
    const { queue, thread_id, lease } = await executing(db);
    const frames = [1, 4].map((seq) => ({ seq, event: 'values', data: `{"n":${seq}}` }));
    await db.transaction('sync', (tx) => insertFrames(tx, lease.run_id, frames));
    await queue.finish(lease, successful());

    const sources = {
      ...liveSources(db),
      log: runEventRepository(db),
      threadLog: threadLogRepository(db),
      bus: memoryBus(),
    };
    const broadcasts = threadBroadcasts({
      sources,
      translate: () => translator({ runs: runRepository(db), log: sources.log, clock: systemClock }),
      onError: () => {},
    });
    const sent: string[] = [];
    const subscriber = new Subscriber({
      send: ({ method }) => sent.push(method),
      isFull: () => false,
      drained: async () => {},
    });
    const gone = new AbortController();
    const replayed = subscriber.subscribe(
      'all',
      eventFilter({ channels: ['values', 'custom', 'lifecycle'] }),
      0,
    );
    const serving = broadcasts.serve(thread_id, subscriber, gone.signal);
    const count = await replayed;
    gone.abort();
    await serving;

    expect(sent).toEqual(['values', 'custom', 'values', 'lifecycle']);
    expect(count).toBe(4);
  });

  test('receives what others receive while a read of its own finds nothing', async () => {
    await using db = await open();
    const { thread_id, lease } = await executing(db);
    const log = runEventRepository(db);
    const bus = memoryBus();
    const logged = async (seq: number) => {
      const frames = [{ seq, event: 'values', data: `{"n":${seq}}` }];
      await db.transaction('sync', (tx) => insertFrames(tx, lease.run_id, frames));
      bus.updated(thread_id);
    };
    await logged(1);

    let hold: (() => Promise<void>) | undefined;
    const idle = Promise.withResolvers<void>();
    const sources: ThreadFollowSources = {
      ...liveSources(db),
      log: {
        ...log,
        async readAfter(...asked) {
          const page = await log.readAfter(...asked);
          const held = hold;
          hold = undefined;
          await held?.();
          return page;
        },
      },
      threadLog: threadLogRepository(db),
      bus,
      poll: {
        async wait(_position, changed, signal) {
          idle.resolve();
          await changed.wait(600_000, signal);
          return true;
        },
      },
    };
    const broadcasts = threadBroadcasts({
      sources,
      translate: () => translator({ runs: runRepository(db), log, clock: systemClock }),
      onError: () => {},
    });
    const gone = new AbortController();
    const join = (since: number) => {
      const received: number[] = [];
      const got = Promise.withResolvers<void>();
      const subscriber = new Subscriber({
        send({ seq }) {
          received.push(seq);
          if (seq === 2) got.resolve();
        },
        isFull: () => false,
        drained: async () => {},
      });
      const replayed = subscriber.subscribe('all', eventFilter({ channels: ['values'] }), since);
      return { received, got, replayed, serving: broadcasts.serve(thread_id, subscriber, gone.signal) };
    };
    const first = join(0);
    await first.replayed;
    await idle.promise;

    const [read, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    hold = () => {
      read.resolve();
      return released.promise;
    };
    const second = join(1);
    await read.promise;
    await logged(2);
    await first.got.promise;
    released.resolve();
    await second.replayed;
    gone.abort();
    await Promise.all([first.serving, second.serving]);
    expect(first.received).toEqual([1, 2]);
    expect(second.received).toEqual([2]);
  });
});
