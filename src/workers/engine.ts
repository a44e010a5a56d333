import { hostname } from 'node:os';
import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import { closeAll } from '../core/lifecycle.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { LongTermStore } from '../graphs/store/long-term-store.ts';
import type { EndedRun } from '../schemas/system.ts';
import type { CronTicks } from '../services/crons/cron-ticks.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { LostRun, ReapRules } from '../storage/queue/reap.ts';
import type { StoreItemRepository } from '../storage/store/items.ts';
import type { ThreadRepository } from '../storage/threads/threads.ts';
import type { WebhookOutbox } from '../storage/webhooks/outbox.ts';
import { a2aTaskFinalizer, type TaskFinalizerDeps } from './a2a-tasks.ts';
import type { AttemptContext } from './attempt.ts';
import { heartbeatLoop, LEASE_MS } from './heartbeat.ts';
import {
  retentionLoop,
  type Sweep,
  storeExpiryLoop,
  storeIndexLoop,
  type ThreadExpiryRules,
  threadExpiryLoop,
} from './maintenance.ts';
import { reaperLoop } from './reaper.ts';
import { runAttempt } from './run-attempt.ts';
import { RunWorker } from './runs.ts';
import { cronLoop, delayedRunsLoop } from './schedules.ts';
import type { WebhookDispatcher } from './webhooks.ts';

/** Grace period of in-flight deliveries at shutdown, ms. The rest is not lost, only sent later. */
const DELIVERY_GRACE_MS = 3000;

export interface EngineOptions {
  /** Concurrent runs; 0 executes none. */
  readonly concurrency: number;
  readonly max_attempts: number;
  /** Run that crashed an earlier process: it fails instead of being retried. */
  readonly crashed_run?: FailurePolicy['crashed_run'];
  /** No other process uses the database: every stored lease belongs to a process that is gone. */
  readonly single_process: boolean;
  readonly version: string;
  readonly pid: number;
  /** Interval and limit of the sweep of expired threads. */
  readonly expiry: ThreadExpiryRules;
  /** Interval of the sweep of expired store items, ms. */
  readonly store_expiry_ms: number;
}

export interface EngineDeps extends Omit<AttemptContext, 'hostFailure'> {
  readonly queue: RunQueue;
  readonly threads: ThreadRepository;
  readonly outbox: WebhookOutbox;
  /** `undefined`: no deliveries are sent. */
  readonly dispatcher: WebhookDispatcher | undefined;
  readonly storeItems: StoreItemRepository;
  readonly longTermStore: LongTermStore;
  /** Retention sweeps. */
  readonly sweeps: readonly Sweep[];
  /** `undefined` if other servers run the crons. */
  readonly cronTicks: CronTicks | undefined;
  /** Determines and stores the final state of an A2A task. */
  readonly finalizeTask: TaskFinalizerDeps['finalize'];
  readonly a2aTasks: TaskFinalizerDeps['tasks'];
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly worker_id: string;
  readonly logger: Logger;
}

export type Engine = ReturnType<typeof engine>;

/** Background work of the server: executes runs, renews leases, recovers lost runs, deletes expired rows. */
export function engine(deps: EngineDeps, options: EngineOptions) {
  const { queue, outbox, dispatcher, worker_id, logger } = deps;
  const { pid, version, concurrency: slots } = options;
  const worker = { worker_id, host: hostname(), pid, version, slots };
  const runEnded = runEndListeners();
  const failureAfter = (what: typeof HOST_LOST) =>
    failureRules(options.max_attempts, deps.rules.log_retention_ms, what);
  const hostFailure = failureAfter(HOST_LOST);
  const runs = new RunWorker({
    ...deps,
    concurrency: options.concurrency,
    failure: failureAfter(ATTEMPT_BROKE),
    attempt: (claimed, stop) => runAttempt({ ...deps, hostFailure, onEnded: runEnded.notify }, claimed, stop),
  });
  const dueRuns = delayedRunsLoop(deps);
  const crons = deps.cronTicks && cronLoop({ ...deps, ticks: deps.cronTicks });
  const tasks = a2aTaskFinalizer({ ...deps, tasks: deps.a2aTasks, finalize: deps.finalizeTask });
  const loops = [
    heartbeatLoop({ queue, worker, check: () => runs.reconcileLeases(), logger }),
    reaperLoop({
      ...deps,
      rules: reapRules(worker_id, { ...options, onEnded: runEnded.notifyLost }, deps.rules.log_retention_ms),
    }),
    dueRuns,
    ...(crons ? [crons] : []),
    tasks.loop,
    retentionLoop({ sweeps: deps.sweeps, logger }),
    threadExpiryLoop({ threads: deps.threads, rules: options.expiry, logger }),
    storeExpiryLoop({ items: deps.storeItems, interval_ms: options.store_expiry_ms, logger }),
    storeIndexLoop({ store: deps.longTermStore, logger }),
  ];
  const subscriptions = [
    deps.bus.on('schedule.changed', () => {
      dueRuns.wake();
      crons?.wake();
    }),
    deps.bus.on('task.ended', tasks.runEnded),
  ];

  return {
    /** Slots for runs in this process. */
    stats: () => ({
      max: options.concurrency,
      active: runs.active,
      available: Math.max(0, options.concurrency - runs.active),
    }),

    /** Calls `listener`, which must not throw, for every run that ends in this process from now on. */
    onRunEnded: runEnded.subscribe,

    /** Statistics of the outbox, and the tries of this process. */
    webhooks: async () => ({
      ...(await outbox.stats()),
      ...(dispatcher?.tries ?? { delivered: 0, failed: 0 }),
    }),

    /** Registers this process as a worker, visible to the others. */
    async register(): Promise<void> {
      if (options.single_process) await Promise.all([queue.deleteAllWorkers(), outbox.releaseAll()]);
      await queue.heartbeat(worker, LEASE_MS);
    },

    /** Starts the loops; recovery of what an earlier process left comes first. */
    async start(): Promise<void> {
      await queue.heartbeat(worker, LEASE_MS);
      for (const loop of loops) loop.start();
      if (options.concurrency > 0) runs.start();
      dispatcher?.start();
    },

    /** Graceful drain: claims nothing new, waits `grace_ms`, requeues the rest, deregisters. No failure stops it. */
    async stop(grace_ms: number): Promise<void> {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      await closeAll([
        () => runs.stop(grace_ms),
        () => dispatcher?.stop(Math.min(grace_ms, DELIVERY_GRACE_MS)),
        () => Promise.all(loops.map((loop) => loop.stop())),
        () => queue.deregister(worker_id),
      ]);
    },
  };
}

/** Run-end listeners, such as metrics. A listener must not throw. */
function runEndListeners() {
  const listeners: ((run: EndedRun) => void)[] = [];
  const notify = (run: EndedRun) => {
    for (const listener of listeners) listener(run);
  };
  return {
    notify,
    notifyLost: ({ graph_id, status }: LostRun) =>
      notify({ graph_id: graph_id ?? '', status: status ?? '', ms: undefined, queue_ms: undefined }),
    subscribe: (listener: (run: EndedRun) => void): void => {
      listeners.push(listener);
    },
  };
}

/** A run whose worker was lost may have crashed it: it is retried with growing back-off. */
function reapRules(
  worker_id: string,
  {
    max_attempts,
    crashed_run,
    onEnded,
  }: Pick<EngineOptions & ReapRules, 'max_attempts' | 'crashed_run' | 'onEnded'>,
  log_retention_ms: number,
): ReapRules {
  return {
    ...failureRules(max_attempts, log_retention_ms, WORKER_LOST),
    crashed_run,
    onEnded,
    worker_id,
    backoff_ms: 1000,
  };
}

const WORKER_LOST = { error: 'WorkerLostError', what: 'The worker of this run was lost' };
const HOST_LOST = { error: 'HostLostError', what: 'The graph host of this run ended' };
const ATTEMPT_BROKE = { error: 'AttemptBrokeError', what: 'The outcome of this run could not be stored' };

/** Retry limit: after `max_attempts` times `what`, the run fails with `error`. */
function failureRules(
  max_attempts: number,
  log_retention_ms: number,
  { error, what }: { error: string; what: string },
): FailurePolicy {
  const message = `${what} ${max_attempts} times; it is not retried.`;
  return { max_attempts, log_retention_ms, exhausted: { error, message } };
}
