import type { Clock } from '../core/clock.ts';
import type { Ids } from '../core/ids.ts';
import { closeAll } from '../core/lifecycle.ts';
import type { Logger } from '../core/logger.ts';
import { loadMeter } from '../core/process-load.ts';
import type { EventBus } from '../events/bus.ts';
import { graphIdOf } from '../schemas/runs.ts';
import type { EndedRun, EngineProgress, StoredSteps, WorkerStats } from '../schemas/system.ts';
import type { ProcessIdentity } from '../schemas/system-history.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { LostRun, ReapRules } from '../storage/queue/reap.ts';
import type { WebhookOutbox } from '../storage/webhooks/outbox.ts';
import type { AttemptContext, Recorded } from './attempt.ts';
import { AutoConcurrency, type AutoConcurrencyDeps } from './auto-concurrency.ts';
import { type BackgroundDeps, type BackgroundOptions, backgroundWork } from './background.ts';
import { type ThreadLeaseOptions, threadLease } from './heartbeat.ts';
import { leaseGuard, loopLease, type WorkerLease } from './lease.ts';
import { AUTO_FLOOR } from './load-limits.ts';
import type { RunWorkerDeps } from './run-worker-deps.ts';
import { RunWorker } from './runs.ts';
import type { WebhookDispatcher } from './webhooks.ts';

/** Grace period of in-flight deliveries at shutdown, ms. Later ones are not lost, only delayed. */
const DELIVERY_GRACE_MS = 3000;
/** A loop that claims runs turns every few seconds; after this time without a turn it is stuck, ms. */
const STUCK_MS = 30_000;

export interface EngineOptions extends Omit<BackgroundOptions, 'reap' | 'nothingLostFor'> {
  /** Concurrent runs; 0 executes none, `auto` as many as the process has time for. */
  readonly concurrency: number | 'auto';
  readonly max_attempts: number;
  /** Whether no other process uses the database. */
  readonly single_process: boolean;
  /** Whether all stored claims belong to a dead process: no other app of this process uses the database. */
  readonly takes_over: boolean;
  /** As in `RunWorkerDeps`. */
  readonly is_capped: boolean;
  /** Graphs that this process serves: their system assistants exist while it lives. */
  readonly graph_ids: readonly string[];
  /** Database URL of the heartbeat, if this is not the only process. */
  readonly database: Pick<ThreadLeaseOptions, 'url' | 'password_command'>;
  /** As in `ThreadLeaseOptions`. */
  readonly max_stall_ms: number;
  readonly lease_fd?: number | undefined;
  /** False for a process that only answers requests and leaves this work to others. */
  readonly background: boolean;
  readonly version: string;
}

export interface EngineDeps extends BackgroundDeps, Omit<AttemptContext, 'hostFailure'> {
  readonly queue: RunQueue;
  readonly outbox: WebhookOutbox;
  /** `undefined`: no deliveries are sent. */
  readonly dispatcher: WebhookDispatcher | undefined;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly worker_id: string;
  readonly process: ProcessIdentity;
  readonly logger: Logger;
  /** Load measurements for `auto`. */
  readonly load: Omit<AutoConcurrencyDeps, 'clock' | 'ownLoad' | 'isAlone'>;
  /** As in `RunWorkerDeps`. */
  readonly scope?: RunWorkerDeps['scope'];
  readonly executor_id?: RunWorkerDeps['executor_id'];
  /** Called for every run that this process ended because its worker was lost. Must not throw. */
  readonly onLost?: ((run_id: string) => void) | undefined;
}

export type Engine = ReturnType<typeof engine>;

/** Background work of the server: executes runs, renews leases, recovers lost runs, deletes expired rows. */
export function engine(deps: EngineDeps, options: EngineOptions) {
  const { queue, outbox, worker_id, logger } = deps;
  const { version, lease_ms, lease_fd, graph_ids, is_capped } = options;
  const { slots, auto } = slotsOf(deps, options);
  const worker = { ...deps.process, version, slots: auto?.slots ?? slots, graph_ids };
  const beat = { worker, slots: () => runs.slots, lease_ms, logger };
  const onLostWork = options.background ? () => background.recover() : undefined;
  const lease = options.single_process
    ? loopLease(queue, beat)
    : threadLease({ ...beat, ...options.database, max_stall_ms: options.max_stall_ms, lease_fd, onLostWork });
  const dispatcher = options.background ? deps.dispatcher : undefined;
  const listeners = runListeners(deps);
  const { failure, ...ofAttempts } = failurePolicies(options.max_attempts, deps.rules.log_retention_ms);
  const runs = new RunWorker({
    ...deps,
    concurrency: slots,
    auto,
    is_capped,
    failure,
    isLeaseHeld: () => lease.isHeld(),
    attempts: { ...deps, ...ofAttempts, ...listeners.ofAttempts },
  });
  const background = backgroundWork(deps, {
    ...options,
    nothingLostFor: () => lease.nothingLostFor(),
    reap: reapRules(worker_id, { ...options, onEnded: listeners.notifyLost }, deps.rules.log_retention_ms),
  });
  const leases = leaseGuard({ lease, runs, dispatcher, lease_ms, logger });
  // Without slots no worker listens: another process claims the runs.
  const offers = slots > 0 ? undefined : deps.bus.on('run.ready', () => deps.bus.emit('runs.offered', false));

  return {
    /** Slots for runs in this process. */
    stats: () => workerStats(runs),

    /** Call the listener, which must not throw, for every later run and step of this process. */
    ...listeners.subscriptions,

    /** Why this process is stuck and must be replaced; `undefined` if it is healthy. */
    stuck(now_ms: number): string | undefined {
      if (!lease.isBeating()) return 'Its heartbeat has stalled.';
      const { claim_loop_age_ms = 0 } = progress(now_ms, slots > 0 ? runs : undefined, lease);
      return claim_loop_age_ms < STUCK_MS ? undefined : 'It has claimed no runs for 30 seconds.';
    },

    /** Whether the loops of this process make progress, for metrics. */
    progress: (now_ms: number) => progress(now_ms, slots > 0 ? runs : undefined, lease),

    /** Statistics of the outbox, and the tries of this process. */
    webhooks: async () => ({
      ...(await outbox.stats()),
      ...(dispatcher?.tries ?? { delivered: 0, failed: 0 }),
    }),

    /** Registers this process as a worker, visible to the others. */
    async register(): Promise<void> {
      if (options.takes_over) await Promise.all([queue.deleteAllWorkers(), outbox.releaseAll()]);
      await queue.heartbeat(worker, lease_ms);
    },

    /** Starts the loops; recovery of what an earlier process left comes first. */
    async start(): Promise<void> {
      await queue.heartbeat(worker, lease_ms);
      lease.start();
      leases.start();
      if (options.background) background.start();
      if (slots > 0) runs.start();
      dispatcher?.start(() => lease.isHeld());
    },

    /** Claims nothing new from now on; resolves when the runs here have ended, or after `ms`. */
    drain: runs.drain.bind(runs),
    /**
     * Graceful drain: claims nothing new, hands runs over or waits `grace_ms` for them, requeues the rest, deregisters.
     * No failure stops it. With `has_successor` another worker of this process takes the runs, whether or not it has been
     * seen for a while.
     */
    async stop(grace_ms: number, has_successor = false): Promise<void> {
      offers?.[Symbol.dispose]();
      const handsOver = has_successor || !(await queue.isOnlyWorker(worker_id).catch(() => true));
      await closeAll([
        () => runs.stop(grace_ms, handsOver),
        () => dispatcher?.stop(Math.min(grace_ms, DELIVERY_GRACE_MS)),
        () => background.stop(),
        () => leases.stop(),
        () => lease.stop(),
        () => queue.deregister(worker_id),
      ]);
    },
  };
}

function workerStats({ slots, active }: RunWorker): WorkerStats {
  const max = Math.max(slots, active);
  return { max, active, available: Math.max(0, max - active) };
}

/** Runs that this process always executes at the same time, and what admits more. */
function slotsOf({ clock, queue, worker_id, load }: EngineDeps, { concurrency }: EngineOptions) {
  if (concurrency !== 'auto') return { slots: concurrency, auto: undefined };
  const isAlone = () => queue.isOnlyWorker(worker_id);
  return { slots: AUTO_FLOOR, auto: new AutoConcurrency({ ...load, clock, isAlone, ownLoad: loadMeter() }) };
}

/** `runs`: the run worker; `undefined` without slots. */
function progress(now_ms: number, runs: RunWorker | undefined, lease: WorkerLease): EngineProgress {
  const turned_at = runs?.turned_at;
  const claim_loop_age_ms = turned_at === undefined ? undefined : Math.max(0, now_ms - turned_at);
  return { claim_loop_age_ms, late_renewals: lease.late_renewals };
}

/** Listeners for ends of runs and for stored steps, such as metrics. A listener must not throw. */
function runListeners({ bus, onLost, onRecorded }: EngineDeps) {
  const ended: ((run: EndedRun) => void)[] = [];
  const stored: ((stored: StoredSteps) => void)[] = [];
  const notify = (run: EndedRun) => {
    for (const listener of ended) listener(run);
  };
  return {
    ofAttempts: {
      onEnded: notify,
      onRecorded(recorded: Recorded): void {
        onRecorded?.(recorded);
        const { steps, claimed } = recorded;
        if (steps.length === 0) return;
        const { assistant_id, kwargs } = claimed.run;
        for (const listener of stored) listener({ assistant_id, graph_id: graphIdOf(kwargs), steps });
      },
    },
    notifyLost: ({ run_id, graph_id, status }: LostRun) => {
      bus.emit('row.changed', 'run', run_id);
      notify({ graph_id: graph_id ?? '', status: status ?? '', ms: undefined, queue_ms: undefined });
      onLost?.(run_id);
    },
    subscriptions: {
      onRunEnded: (listener: (run: EndedRun) => void): void => void ended.push(listener),
      onStepsStored: (listener: (steps: StoredSteps) => void): void => void stored.push(listener),
    },
  };
}

/** A run whose worker was lost may have crashed it: it is retried with growing back-off. */
function reapRules(
  worker_id: string,
  { max_attempts, onEnded }: Pick<EngineOptions & ReapRules, 'max_attempts' | 'onEnded'>,
  log_retention_ms: number,
): ReapRules {
  return {
    ...failureRules(max_attempts, log_retention_ms, WORKER_LOST),
    onEnded,
    worker_id,
    backoff_ms: 1000,
  };
}

const WORKER_LOST = { error: 'WorkerLostError', what: 'The worker of this run was lost' };
const HOST_LOST = { error: 'HostLostError', what: 'The graph host of this run ended' };
const STORAGE_BUSY = {
  error: 'StorageBusyError',
  what: 'The database could not do what this run asked of it',
};
const ATTEMPT_BROKE = { error: 'AttemptBrokeError', what: 'The outcome of this run could not be stored' };

/** Retry limits of runs by what failed. */
function failurePolicies(max_attempts: number, log_retention_ms: number) {
  const after = (what: typeof HOST_LOST) => failureRules(max_attempts, log_retention_ms, what);
  return {
    failure: after(ATTEMPT_BROKE),
    hostFailure: after(HOST_LOST),
    storageFailure: after(STORAGE_BUSY),
  };
}

/** Retry limit: after `max_attempts` times `what`, the run fails with `error`. */
function failureRules(
  max_attempts: number,
  log_retention_ms: number,
  { error, what }: { error: string; what: string },
): FailurePolicy {
  const message = `${what} ${max_attempts} times; it is not retried.`;
  return { max_attempts, log_retention_ms, exhausted: { error, message } };
}
