import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/logger.ts';
import type { Db } from '../../src/db/db.ts';
import type { EventBus } from '../../src/events/bus.ts';
import { followThread } from '../../src/events/follow-thread.ts';
import type { GraphCall, GraphEvent } from '../../src/graphs/graph.ts';
import { runCancel } from '../../src/services/runs/cancel.ts';
import { runRepository } from '../../src/storage/runs/runs.ts';
import { reaperTick } from '../../src/workers/reaper.ts';
import { describePostgresServer } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { executing, followedThread, textOf } from '../support/followed-threads.ts';
import { partsOf } from '../support/parts-of.ts';
import { busOf } from '../support/postgres-bus.ts';
import { FAILURE_RULES } from '../support/queued-runs.ts';
import { scriptedGraph } from '../support/scripted-graph.ts';
import { until } from '../support/until.ts';

/** The bus of a process; under load its probe may come too late, and it would poll. */
async function sharedBusOf(db: Db) {
  for (;;) {
    const opened = await busOf(db, randomUUID());
    if (opened.bus.poll_rate !== 'frequent') return opened;
    await opened[Symbol.asyncDispose]();
  }
}

/** The buses of a process with workers, and of one that only serves followers. They know each other. */
async function twoBuses(db: Db) {
  const stack = new AsyncDisposableStack();
  const here = stack.use(await sharedBusOf(db));
  const there = stack.use(await sharedBusOf(db));
  const heard: string[] = [];
  stack.use(there.bus.onUpdated('known', () => void heard.push('known')));
  await until('they know each other', () => {
    here.bus.updated('known', 'others');
    return heard.length > 0;
  });
  return {
    here: here.bus,
    there: there.bus,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Follows the thread where none of its runs executes. Only notifications end a wait. */
function following(db: Db, bus: EventBus, thread_id: string) {
  const left = new AbortController();
  let waits = 0;
  const { sources } = followedThread(db, bus);
  const poll: typeof sources.poll = {
    async wait(_position, changed, signal) {
      waits += 1;
      await changed.wait(600_000, signal);
      return true;
    },
  };
  const seen: string[] = [];
  const done = (async () => {
    for await (const entry of followThread({ ...sources, poll }, thread_id, 0, left.signal)) {
      seen.push(textOf(entry));
    }
  })();
  return {
    seen,
    untilItWaits: () => until('it waits', () => waits > 0),
    async [Symbol.asyncDispose]() {
      left.abort();
      await done;
    },
  };
}

/** A run that has begun, and waits for its next attempt. */
async function requeued(db: Db) {
  const thread = followedThread(db);
  const run_id = await thread.add(thread.thread_id);
  const attempt = await executing(thread);
  await attempt.log('begun');
  return { ...thread, run_id, attempt };
}

/** Says one more thing when its run is stopped. */
async function* lastWords({ signal }: GraphCall): AsyncGenerator<GraphEvent> {
  await once(signal, 'abort');
  yield { event: 'custom', data: 'last words' };
  throw signal.reason;
}

describePostgresServer('a follower of a thread in another process is notified', (open) => {
  test('of the events that a run wrote before it was requeued', async () => {
    await using db = await open();
    await using buses = await twoBuses(db);
    const worker = executingWorker(db, scriptedGraph(lastWords), {}, () => ({ bus: buses.here }));
    worker.worker.start();
    const run = await worker.enqueue({ resumable: false });
    await using follower = following(db, buses.there, run.thread_id);
    await until('it has begun', () => follower.seen.includes('metadata'));
    await worker.worker.stop(0);
    await until('its last words arrive', () => follower.seen.includes('last words'));
  });

  test('of the cancel of a run that waits for its next attempt', async () => {
    await using db = await open();
    await using buses = await twoBuses(db);
    const { thread_id, run_id, attempt, queue } = await requeued(db);
    await attempt.release();
    await using follower = following(db, buses.there, thread_id);
    await follower.untilItWaits();
    const runs = runRepository(db);
    const run = await runs.get(thread_id, run_id);
    if (!run) throw new Error('there is no run');
    await runCancel({ runs, queue, bus: buses.here, log_retention_ms: 60_000 }).abandon(run);
    await until('its end arrives', () => follower.seen.includes('end'));
    expect(follower.seen).toEqual(['begun', 'end']);
  });

  test('of the end of a run that lost its worker too often', async () => {
    await using db = await open();
    await using buses = await twoBuses(db);
    const { thread_id, queue } = await requeued(db);
    await using follower = following(db, buses.there, thread_id);
    await follower.untilItWaits();
    // Its worker never had a lease.
    const tick = reaperTick({
      queue,
      outbox: partsOf({ releaseLost: async () => 0 }),
      bus: buses.here,
      rules: { ...FAILURE_RULES, max_attempts: 1, worker_id: randomUUID(), backoff_ms: 0 },
      heartbeat_ms: 5000,
      nothingLostFor: () => 0,
      clock: systemClock,
      logger: silentLogger,
    });
    await tick();
    await until('its end arrives', () => follower.seen.includes('end'));
    expect(follower.seen).toEqual(['begun', 'error', 'end']);
  });
});
