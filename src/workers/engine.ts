import { hostname } from 'node:os';
import type { Clock } from '../core/clock.ts';
import { closeAll } from '../core/close-all.ts';
import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { LongTermStore } from '../graphs/long-term-store.ts';
import type { EndedRun } from '../schemas/system.ts';
import type { CronTicks } from '../services/cron-ticks.ts';
import type { FailureRules } from '../storage/queue/end-attempt.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { LostRun, ReapRules } from '../storage/queue/reap.ts';
import type { StoreItemRepository } from '../storage/store/items.ts';
import type { ThreadRepository } from '../storage/threads/threads.ts';
import type { WebhookOutbox } from '../storage/webhooks/outbox.ts';
import { a2aTaskSettler, type TaskSettling } from './a2a-tasks.ts';
import { cronLoop } from './crons.ts';
import { dueRunsLoop } from './due-runs.ts';
import { heartbeatLoop, LEASE_MS } from './heartbeat.ts';
import { reaperLoop } from './reaper.ts';
import { retentionLoop, type Sweep } from './retention.ts';
import { type AttemptDeps, runAttempt } from './run-attempt.ts';
import { RunWorker } from './runs.ts';
import { storeExpiryLoop } from './store-expiry.ts';
import { storeIndexLoop } from './store-index.ts';
import { type ExpiryRules, threadExpiryLoop } from './thread-expiry.ts';
import type { WebhookDispatcher } from './webhooks.ts';

/** How long deliveries that are being sent may take when the process stops, ms: they are not lost, only sent later. */
const LAST_DELIVERIES_MS = 3000;

export interface EngineOptions {
  /** Runs at once; 0 executes none. */
  readonly concurrency: number;
  readonly max_attempts: number;
  /** A run of an earlier process that ended that process: it fails instead of being tried again. */
  readonly blamed?: FailureRules['blamed'];
  /** No other process uses the database, so every lease on record is of a process that is gone. */
  readonly alone: boolean;
  readonly version: string;
  readonly pid: number;
  /** When threads are looked at whose time may be over. */
  readonly expiry: ExpiryRules;
  /** Between two looks at items of the long-term store whose time may be over, ms. */
  readonly store_expiry_ms: number;
}

export interface EngineDeps extends AttemptDeps {
  readonly queue: RunQueue;
  readonly threads: ThreadRepository;
  readonly outbox: WebhookOutbox;
  /** Undefined: nothing is sent. */
  readonly dispatcher: WebhookDispatcher | undefined;
  readonly storeItems: StoreItemRepository;
  readonly longTermStore: LongTermStore;
  /** What drops old rows. */
  readonly sweeps: readonly Sweep[];
  /** Undefined when other servers look after crons. */
  readonly cronTicks: CronTicks | undefined;
  /** Finds out what became of a task of A2A. */
  readonly settleTask: TaskSettling['settle'];
  readonly a2aTasks: TaskSettling['tasks'];
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Of this process. */
  readonly worker_id: string;
  readonly logger: Logger;
}

export type Engine = ReturnType<typeof engine>;

/** Everything that works without being asked: executes runs, keeps leases, takes back lost runs, sweeps old logs. */
export function engine(deps: EngineDeps, options: EngineOptions) {
  const { queue, outbox, dispatcher, worker_id, logger } = deps;
  const worker = {
    worker_id,
    host: hostname(),
    pid: options.pid,
    version: options.version,
    slots: options.concurrency,
  };
  const ends = runEnds();
  const runs = new RunWorker({
    ...deps,
    concurrency: options.concurrency,
    failure: failureRules(options.max_attempts, deps.rules.keep_log_ms, BROKEN),
    attempt: (claimed, stop) => runAttempt({ ...deps, onEnded: ends.tell }, claimed, stop),
  });
  const dueRuns = dueRunsLoop(deps);
  const crons = deps.cronTicks && cronLoop({ ...deps, ticks: deps.cronTicks });
  const tasks = a2aTaskSettler({ ...deps, tasks: deps.a2aTasks, settle: deps.settleTask });
  const loops = [
    heartbeatLoop({ queue, worker, check: () => runs.check(), logger }),
    reaperLoop({
      ...deps,
      rules: reapRules(worker_id, { ...options, onEnded: ends.tellLost }, deps.rules.keep_log_ms),
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
    deps.bus.onScheduled(() => {
      dueRuns.poke();
      crons?.poke();
    }),
    deps.bus.onTask(tasks.ended),
  ];

  return {
    /** Runs that execute here now, and how many could. */
    figures: () => ({
      max: options.concurrency,
      active: runs.active,
      available: Math.max(0, options.concurrency - runs.active),
    }),

    /** Calls the listener, which must not throw, with every run that ends here from now on. */
    onRunEnded: ends.listen,

    /** What waits to be sent and what was given up, and the tries of this process. */
    webhooks: async () => ({
      ...(await outbox.figures()),
      ...(dispatcher?.tries ?? { delivered: 0, failed: 0 }),
    }),

    /** From now on the other processes know that this one lives. */
    async join(): Promise<void> {
      if (options.alone) await Promise.all([queue.forgetWorkers(), outbox.releaseAll()]);
      await queue.heartbeat(worker, LEASE_MS);
    },

    /** Begins to work, first on what an earlier process left. */
    async start(): Promise<void> {
      await queue.heartbeat(worker, LEASE_MS);
      for (const loop of loops) loop.start();
      if (options.concurrency > 0) runs.start();
      dispatcher?.start();
    },

    /** Takes nothing new, gives what executes `grace_ms`, puts the rest back, and leaves. Stops all, whatever fails. */
    async stop(grace_ms: number): Promise<void> {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      await closeAll([
        () => runs.stop(grace_ms),
        () => dispatcher?.stop(Math.min(grace_ms, LAST_DELIVERIES_MS)),
        () => Promise.all(loops.map((loop) => loop.stop())),
        () => queue.leave(worker_id),
      ]);
    },
  };
}

/** Tells who counts runs. A listener must not throw. */
function runEnds() {
  const listeners: ((run: EndedRun) => void)[] = [];
  const tell = (run: EndedRun) => {
    for (const listener of listeners) listener(run);
  };
  return {
    tell,
    tellLost: ({ graph_id, status }: LostRun) =>
      tell({ graph_id: graph_id ?? '', status: status ?? '', ms: undefined, queue_ms: undefined }),
    listen: (listener: (run: EndedRun) => void): void => {
      listeners.push(listener);
    },
  };
}

/** A run that takes its worker with it is tried again a little later each time. */
function reapRules(
  worker_id: string,
  { max_attempts, blamed, onEnded }: Pick<EngineOptions & ReapRules, 'max_attempts' | 'blamed' | 'onEnded'>,
  keep_log_ms: number,
): ReapRules {
  return { ...failureRules(max_attempts, keep_log_ms, LOST), blamed, onEnded, worker_id, backoff_ms: 1000 };
}

const LOST = { error: 'WorkerLostError', what: 'The worker of this run was lost' };
const BROKEN = { error: 'AttemptBrokeError', what: 'The outcome of this run could not be stored' };

/** `what` happened again and again: the run is not tried any more. */
function failureRules(
  max_attempts: number,
  keep_log_ms: number,
  { error, what }: { error: string; what: string },
): FailureRules {
  const message = `${what} ${max_attempts} times; it is not retried.`;
  return { max_attempts, keep_log_ms, exhausted: { error, message } };
}
