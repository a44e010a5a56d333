import type { Config } from '../config/schema.ts';
import { VERSION } from '../config/version.ts';
import { timestamp } from '../core/clock.ts';
import { callerSpanOf } from '../core/trace-ids.ts';
import { runCheckpointer } from '../graphs/checkpointer/open.ts';
import type { CronTicks } from '../services/crons/cron-ticks.ts';
import type { StoreStateAfterRun } from '../storage/threads/state-after-run.ts';
import type { AttemptContext, AttemptRules } from '../workers/attempt.ts';
import { type Engine, type EngineDeps, type EngineOptions, engine } from '../workers/engine.ts';
import type { Sweep } from '../workers/maintenance.ts';
import type { RunObserver } from '../workers/run-observer.ts';
import type { AppContext } from './context.ts';
import { wireWebhookDispatcher } from './webhooks.ts';

const DAY_MS = 86_400_000;
/** How long the outcomes of a cron are kept, and a cron that has ended, ms. */
const CRON_HISTORY_MS = 30 * DAY_MS;

/** Services that the workers depend on. */
interface WorkerServices {
  readonly cronTicks: CronTicks;
  readonly storeStateAfterRun: StoreStateAfterRun;
}

/** Settings of an app that shares its database. */
interface WorkerPlace {
  readonly takes_over?: boolean;
  readonly scope?: EngineDeps['scope'];
  readonly lease_fd?: EngineOptions['lease_fd'];
  readonly observer?: RunObserver | undefined;
  readonly observeAttempt?: AttemptContext['observeAttempt'];
  /** Of extensions. */
  readonly sweeps?: readonly Sweep[];
}

/** Wires the background workers. */
export function wireWorkers(
  { config, storage, store, ...context }: AppContext,
  { cronTicks, storeStateAfterRun }: WorkerServices,
  { takes_over = isSingleProcess(config), scope, lease_fd, ...added }: WorkerPlace = {},
): Engine {
  const { record } = config.runs;
  const { observer, observeAttempt, sweeps = [] } = added;
  const has_contents = observer?.has_contents;
  const { checkpoints, writeBuffer: writes, ...work } = storage.work;
  return engine(
    {
      ...context,
      ...work,
      dispatcher: wireWebhookDispatcher({ config, storage, store, ...context }),
      sweeps: retentionSweeps({ ...context, config, storage }, sweeps),
      cronTicks: config.crons.enabled ? cronsWhile(cronTicks, scope) : undefined,
      scope,
      writes,
      storeStateAfterRun,
      onRecorded: observer?.onRecorded,
      spanOf: observer?.spanOf ?? (({ run }) => callerSpanOf(run.kwargs.config.configurable)),
      onLost: observer?.onLost,
      resumedRun: checkpoints.resumedRun,
      takenAnswers: checkpoints.takenAnswers,
      memory: (attempt, lease, options) => ({
        checkpointer: runCheckpointer({
          checkpoints,
          writes: attempt,
          lease,
          record,
          has_contents,
          ...options,
        }),
        store,
      }),
      rules: attemptRules(config.runs, context.log_retention_ms),
      load: executionLoad({ ...context, config, storage }),
      observeAttempt,
    },
    {
      ...engineOptions(config),
      takes_over,
      lease_fd,
      graph_ids: context.graphs.ids,
    },
  );
}

/** Not in an executor of some runs only: it may lack the cron's graph and would disable the cron. */
function cronsWhile(ticks: CronTicks, scope: WorkerPlace['scope']): CronTicks {
  if (!scope) return ticks;
  const isActive = () => !('only' in (scope() ?? {}));
  return {
    ...ticks,
    nextDue: async () => (isActive() ? ticks.nextDue() : undefined),
    fireDue: async () => (isActive() ? ticks.fireDue() : undefined),
  };
}

/** Load measurements for `runs.concurrency: auto`. */
function executionLoad({
  config,
  graphs,
  storage,
}: Pick<AppContext, 'config' | 'graphs' | 'storage'>): EngineDeps['load'] {
  const { max_memory_mb } = config.hosts;
  return {
    hostLoads: () => graphs.hostLoads(),
    max_host_bytes: max_memory_mb && max_memory_mb * 1024 ** 2,
    isDatabaseBusy() {
      const { work } = storage.databaseStats().pools;
      return work !== undefined && work.waiting > work.max;
    },
  };
}

/** Sweeps that delete expired rows, or roll up ended ones. */
function retentionSweeps(
  {
    config,
    storage,
    clock,
    log_retention_ms,
  }: Pick<AppContext, 'config' | 'storage' | 'clock' | 'log_retention_ms'>,
  ofExtensions: readonly Sweep[],
): EngineDeps['sweeps'] {
  const { events, runLogs, idempotency, outbox, cronFires } = storage.work;
  const keep_deliveries_ms = config.webhooks.delivery.keep_days * DAY_MS;
  // The id of a thread cannot be used again before the rest of its history is gone, and what is left of a removed run
  // should not stay for long.
  const prompt: Sweep[] = [
    (limit) => storage.work.threads.sweepDeletions(limit),
    (limit) => events.deleteExpired(limit),
    (limit) => runLogs.deleteRemoved(limit),
    (limit) => storage.work.removedRuns.deleteUnlisted(limit),
  ];
  const others: Sweep[] = [
    (limit) => runLogs.deleteExpired(log_retention_ms, limit),
    (limit) => idempotency.deleteExpired(limit),
    (limit) => outbox.deleteEnded(keep_deliveries_ms, limit),
    (limit) => cronFires.deleteBefore(timestamp(clock.now() - CRON_HISTORY_MS), limit),
    (limit) => storage.crons.deleteEnded(timestamp(clock.now() - CRON_HISTORY_MS), limit),
    ...ofExtensions,
  ];
  return { prompt, others };
}

function attemptRules({ timeout_seconds, record }: Config['runs'], log_retention_ms: number): AttemptRules {
  return { timeout_ms: timeout_seconds * 1000, log_retention_ms, retry_ms: 1000, version: VERSION, record };
}

/** A SQLite file belongs to one process. */
export function isSingleProcess({ storage }: Pick<Config, 'storage'>): boolean {
  return storage.url.startsWith('sqlite:');
}

function engineOptions({
  runs,
  server,
  storage,
  store,
  checkpointer: { ttl },
}: Config): Omit<EngineOptions, 'graph_ids' | 'takes_over'> {
  return {
    concurrency: server.role === 'api' ? 0 : runs.concurrency,
    max_attempts: runs.max_attempts,
    single_process: isSingleProcess({ storage }),
    is_capped: runs.max_per_owner !== undefined,
    version: VERSION,
    database: { url: storage.url, password_command: storage.password_command },
    lease_ms: runs.lease_seconds * 1000,
    max_stall_ms: runs.max_stall_seconds * 1000,
    background: server.role !== 'api',
    expiry: { interval_ms: ttl.sweep_interval_minutes * 60_000, limit: ttl.sweep_limit },
    store_expiry_ms: store.ttl.sweep_interval_minutes * 60_000,
  };
}
