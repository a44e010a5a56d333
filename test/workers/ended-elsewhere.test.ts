import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { HostLost } from '../../src/core/errors.ts';
import { silentLogger } from '../../src/core/logger.ts';
import type { Db } from '../../src/db/db.ts';
import { type EventBus, memoryBus } from '../../src/events/bus.ts';
import type { GraphEvent } from '../../src/graphs/graph.ts';
import { ResumeRefused } from '../../src/graphs/runtime/resume-refused.ts';
import type { ResumeRefusal } from '../../src/schemas/threads.ts';
import { runCancel } from '../../src/services/runs/cancel.ts';
import { confirmSubmission } from '../../src/services/runs/submit.ts';
import { effectOnOthers } from '../../src/storage/queue/multitask.ts';
import { Riders } from '../../src/storage/riders.ts';
import { ActiveAttempts } from '../../src/storage/runs/active-attempts.ts';
import { emptyBatch } from '../../src/storage/runs/batch.ts';
import { runRepository } from '../../src/storage/runs/runs.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import type { AttemptContext } from '../../src/workers/attempt.ts';
import { reaperTick } from '../../src/workers/reaper.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executingWorker } from '../support/executing-worker.ts';
import { partsOf } from '../support/parts-of.ts';
import { FAILURE_RULES, newRun, queueStory, request, WORKER } from '../support/queued-runs.ts';
import { scriptedGraph } from '../support/scripted-graph.ts';

function throwing(failure: Error) {
  return scriptedGraph(async function* (): AsyncGenerator<GraphEvent> {
    yield { event: 'values', data: {} };
    throw failure;
  });
}

/** The names of the events that the bus emits, in order. */
function emittedBy(bus: EventBus): string[] {
  const emitted: string[] = [];
  for (const name of ['run.ready', 'schedule.changed', 'delivery.queued', 'run.ended'] as const)
    bus.on(name, () => emitted.push(name));
  return emitted;
}

describeEachDatabase('a run that ends while no worker holds it', (open) => {
  test('because its graph host is lost too often leaves its state, and a delivery is announced', async () => {
    await using db = await open();
    const stored: [run_id: string, status: string | undefined][] = [];
    const at = executingWorker(db, throwing(new HostLost('gone', true)), {}, () => ({
      hostFailure: { ...FAILURE_RULES, max_attempts: 1 },
      storeStateAfterRun: async ({ run_id }) => {
        stored.push([run_id, await at.statusOf(run_id)]);
      },
    }));
    const emitted = emittedBy(at.bus);
    at.worker.start();
    const { run_id } = await at.enqueue();
    await expect.poll(() => stored).toEqual([[run_id, 'error']]);
    expect(emitted).toContain('delivery.queued');
    await at.worker.stop(0);
  });

  test('because its worker is lost leaves its state, and its end is announced', async () => {
    await using db = await open();
    const riders = new Riders([{ name: 'watching', follows_ends: true }]);
    const { queue } = queueStory(db, { riders });
    const run = newRun(randomUUID());
    const { run_id, thread_id } = run;
    await queue.enqueue({ ...request(run), cargo: { watching: true } });
    await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 1 });
    const bus = memoryBus();
    const emitted = emittedBy(bus);
    const ended: string[] = [];
    bus.on('run.ended', (id) => ended.push(id));
    const stored: unknown[] = [];
    const rules = { ...FAILURE_RULES, max_attempts: 1, worker_id: randomUUID(), backoff_ms: 0 };
    await reaperTick({
      ...{ queue, bus, rules, clock: systemClock, logger: silentLogger },
      outbox: partsOf({ releaseLost: async () => 0 }),
      heartbeat_ms: 5000,
      nothingLostFor: () => 0,
      storeStateAfterRun: async (lost) => void stored.push(lost),
    })();
    expect(stored).toMatchObject([{ run_id, thread_id, status: 'error' }]);
    expect(ended).toEqual([run_id]);
    expect(emitted).toContain('delivery.queued');
  });
});

/** A run with a follower, which has begun and waits for its next attempt. */
async function released(db: Db) {
  const { queue } = queueStory(db, { riders: new Riders([{ name: 'watching', follows_ends: true }]) });
  const run = newRun(randomUUID());
  await queue.enqueue({ ...request(run), cargo: { watching: true } });
  const [claimed] = await queue.claim({ ...WORKER, token: randomUUID(), limit: 1 });
  if (!claimed) throw new Error('There is no run to claim.');
  await queue.requeue(claimed.lease, { charge: false, delay_ms: 0, batch: emptyBatch() });
  const bus = memoryBus();
  return { queue, run, bus, emitted: emittedBy(bus) };
}

describeEachDatabase('the end of a run that waits for its next attempt is announced', (open) => {
  test('after a cancel', async () => {
    await using db = await open();
    const { queue, run, bus, emitted } = await released(db);
    await runCancel({ queue, bus, runs: runRepository(db), log_retention_ms: 1000 }).abandon(run);
    expect(emitted.toSorted()).toEqual(['delivery.queued', 'run.ended']);
  });

  test('after a newer run has taken its place', async () => {
    await using db = await open();
    const { queue, run, bus, emitted } = await released(db);
    const newer = newRun(run.thread_id);
    const added = { ...request(newer), others: effectOnOthers('interrupt', newer.run_id, 1000) };
    confirmSubmission(partsOf({ bus }), added, await queue.enqueue(added));
    expect(emitted.toSorted()).toEqual(['delivery.queued', 'run.ended', 'run.ready']);
  });
});

describeEachDatabase('a run that returns to the queue', (open) => {
  test('is claimed at once after its first loss, which has no back-off', async () => {
    await using db = await open();
    const at = executingWorker(db, throwing(new HostLost('gone', true)), { retry_ms: 60_000 }, () => ({
      hostFailure: { ...FAILURE_RULES, max_attempts: 2 },
    }));
    const emitted = emittedBy(at.bus);
    at.worker.start();
    expect(await at.ended(await at.enqueue())).toBe('error');
    await at.worker.stop(0);
    expect(emitted.slice(0, 2)).toEqual(['run.ready', 'run.ready']);
    expect(emitted).not.toContain('schedule.changed');
  });
});

describeEachDatabase(
  'readers of a thread no longer wait for an attempt when its state is stored after it',
  (open) => {
    const refusal: ResumeRefusal = { reason: 'not_pending', interrupt_ids: ['a'], pending_ids: [] };
    test.each([
      ['a lost graph host', new HostLost('gone', true)],
      ['a refused answer', new ResumeRefused('UnknownInterruptError', 'not pending', refusal)],
    ])('after %s', async (_what, failure) => {
      await using db = await open();
      const active = new ActiveAttempts();
      const stored: string[] = [];
      const at = executingWorker(db, throwing(failure), {}, () => ({
        hostFailure: { ...FAILURE_RULES, max_attempts: 1 },
        writes: (lease, options) => new WriteBuffer(db, lease, options, { active }),
        storeStateAfterRun: async ({ run_id, thread_id }) => {
          await active.whenFlushed(thread_id);
          stored.push(run_id);
        },
      }));
      at.worker.start();
      const run = await at.enqueue();
      await expect.poll(() => stored).toEqual([run.run_id]);
      await at.worker.stop(0);
    });
  },
);

describeEachDatabase('a run whose answer is to nothing that is pending', (open) => {
  test('stores the newest state of its thread, whose row may be outdated', async () => {
    await using db = await open();
    const refusal: ResumeRefusal = { reason: 'not_pending', interrupt_ids: ['a'], pending_ids: [] };
    const stored: string[] = [];
    const context: Partial<AttemptContext> = {
      storeStateAfterRun: async ({ run_id }) => void stored.push(run_id),
    };
    const graph = throwing(new ResumeRefused('UnknownInterruptError', 'not pending', refusal));
    const at = executingWorker(db, graph, {}, () => context);
    at.worker.start();
    const run = await at.enqueue();
    expect(await at.ended(run)).toBe('error');
    await expect.poll(() => stored).toEqual([run.run_id]);
    await at.worker.stop(0);
  });
});
