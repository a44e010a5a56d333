import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { systemIds } from '../../src/core/ids.ts';
import { silentLogger } from '../../src/core/logger.ts';
import type { Db } from '../../src/db/db.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { LiveRuns } from '../../src/events/writer.ts';
import type { GraphRegistry } from '../../src/graphs/graph.ts';
import type { Run, RunKwargs } from '../../src/schemas/runs.ts';
import type { PricedStep } from '../../src/schemas/steps.ts';
import type { RunQueue } from '../../src/storage/queue/queue.ts';
import { type Flush, Riders } from '../../src/storage/riders.ts';
import { runEventRepository } from '../../src/storage/runs/events.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import type { AttemptContext } from '../../src/workers/attempt.ts';
import type { RunWorkerDeps } from '../../src/workers/run-worker-deps.ts';
import { RunWorker } from '../../src/workers/runs.ts';
import { FAILURE_RULES, KWARGS, newRun, queueStory, request, WORKER } from './queued-runs.ts';
import { recordingMeter } from './recording-meter.ts';

/** What an attempt needs, over one database. */
export function attemptContext(db: Db, queue: RunQueue, graphs: GraphRegistry): AttemptContext {
  return {
    queue,
    writes: (lease, options) => new WriteBuffer(db, lease, options),
    live: new LiveRuns(),
    bus: memoryBus(),
    worker_id: WORKER.worker_id,
    graphs,
    memory: () => ({ checkpointer: undefined, store: undefined }),
    clock: systemClock,
    logger: silentLogger,
    rules: { timeout_ms: 20_000, log_retention_ms: 60_000, retry_ms: 1, version: '0', record: 'all' },
  };
}

/** A worker that executes the runs of a queue with these graphs, and what it counts. */
export function executingWorker(
  db: Db,
  graphs: GraphRegistry,
  rules: Partial<AttemptContext['rules']> = {},
  changes: (queue: RunQueue, writes: AttemptContext['writes']) => Partial<AttemptContext> = () => ({}),
  slots: Pick<RunWorkerDeps, 'concurrency' | 'auto'> = { concurrency: 4 },
) {
  const counted: PricedStep[] = [];
  const counting = {
    name: 'counting',
    flushed: async (_tx: unknown, { calls }: Flush) => counted.push(...calls),
  };
  const riders = new Riders([counting]);
  const { queue, ...story } = queueStory(db, { riders });
  // A batch may be committed before the run ends.
  const writes: AttemptContext['writes'] = (lease, options) =>
    new WriteBuffer(db, lease, options, { riders });
  const { meter, observed } = recordingMeter();
  const statuses: string[] = [];
  const log = runEventRepository(db);
  const context = attemptContext(db, queue, graphs);
  const deps: AttemptContext = {
    ...context,
    writes,
    meter,
    onEnded: ({ status }) => statuses.push(status),
    rules: { ...context.rules, ...rules },
    ...changes(queue, writes),
  };
  const worker = new RunWorker({
    ...deps,
    ids: systemIds(systemClock),
    worker_id: WORKER.worker_id,
    ...slots,
    failure: FAILURE_RULES,
    isLeaseHeld: () => true,
    attempts: deps,
  });
  return {
    ...story,
    ...deps,
    worker,
    /** How the runs ended, as metrics count them. */
    statuses,
    /** Calls of models that a rider was given. */
    counted,
    observed,
    async enqueue(kwargs: Partial<RunKwargs> = {}): Promise<Run> {
      const run = { ...newRun(randomUUID()), kwargs: { ...KWARGS, resumable: true, ...kwargs } };
      await queue.enqueue(request(run));
      deps.bus.emit('run.ready');
      return run;
    },
    async ended(run: Run): Promise<string | undefined> {
      await expect.poll(() => queue.position(run.run_id)).toBeUndefined();
      return story.statusOf(run.run_id);
    },
    /** A run that is cancelled while it executes, after its end. */
    async interrupted() {
      const run = await this.enqueue();
      await expect.poll(() => story.statusOf(run.run_id)).toBe('running');
      const error = { error: 'UserInterrupt', message: 'asked' };
      await queue.cancel(run.thread_id, [run.run_id], { action: 'interrupt', error, log_retention_ms: 1000 });
      deps.bus.emit('run.cancelled', run.run_id);
      expect(await this.ended(run)).toBe('interrupted');
      return { run, error };
    },
    /** A run that executes when the worker stops. */
    async abandoned(): Promise<Run> {
      const run = await this.enqueue();
      await expect.poll(() => story.statusOf(run.run_id)).toBe('running');
      await worker.stop(0);
      return run;
    },
    async events(run: Run) {
      const { frames } = await log.readAfter(run.run_id, 0, 100);
      return frames.map(({ event, data }) => [event, JSON.parse(data)]);
    },
  };
}
