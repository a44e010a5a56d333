import type { Config } from '../config/schema.ts';
import { VERSION } from '../config/version.ts';
import { timestamp } from '../core/clock.ts';
import type { Lazy } from '../core/lifecycle.ts';
import { runCheckpointer } from '../graphs/checkpointer/open.ts';
import type { A2aService } from '../services/a2a/a2a.ts';
import type { CronTicks } from '../services/crons/cron-ticks.ts';
import type { AttemptRules } from '../workers/attempt.ts';
import { type Engine, type EngineOptions, engine } from '../workers/engine.ts';
import type { Sweep } from '../workers/maintenance.ts';
import type { AppContext } from './context.ts';
import { wireWebhookDispatcher } from './webhooks.ts';

const DAY_MS = 86_400_000;

/** Services that the workers depend on. */
interface WorkerServices {
  readonly cronTicks: CronTicks;
  readonly a2a: Lazy<A2aService>;
}

/** Wires the background workers. */
export function wireWorkers(
  { config, storage, store, ...context }: AppContext,
  { cronTicks, a2a }: WorkerServices,
): Engine {
  const { checkpoints, writeBuffer: writes, ...work } = storage.work;
  return engine(
    {
      ...context,
      ...work,
      dispatcher: wireWebhookDispatcher({ config, storage, store, ...context }),
      finalizeTask: async (row) => (await a2a()).finalize(row),
      sweeps: retentionSweeps({ ...context, config, storage }),
      cronTicks: config.crons.enabled ? cronTicks : undefined,
      writes,
      memory: (attempt, lease, durability) => ({
        checkpointer: runCheckpointer({ checkpoints, writes: attempt, lease, durability }),
        store,
      }),
      rules: attemptRules(config.runs, context.log_retention_ms),
    },
    { ...engineOptions(config), crashed_run: context.crashed_run },
  );
}

/** Sweeps that delete expired rows. */
function retentionSweeps({
  config,
  storage,
  clock,
}: Pick<AppContext, 'config' | 'storage' | 'clock'>): Sweep[] {
  const { events, idempotency, outbox, cronFires } = storage.work;
  const keep_deliveries_ms = config.webhooks.delivery.keep_days * DAY_MS;
  const history_ms = config.crons.history_days * DAY_MS;
  return [
    (limit) => events.deleteExpired(limit),
    (limit) => idempotency.deleteExpired(limit),
    (limit) => outbox.deleteEnded(keep_deliveries_ms, limit),
    (limit) => cronFires.deleteBefore(timestamp(clock.now() - history_ms), limit),
  ];
}

function attemptRules({ timeout_seconds }: Config['runs'], log_retention_ms: number): AttemptRules {
  return { timeout_ms: timeout_seconds * 1000, log_retention_ms, retry_ms: 1000, version: VERSION };
}

/** A SQLite file belongs to one process. */
export function isSingleProcess({ storage }: Pick<Config, 'storage'>): boolean {
  return storage.url.startsWith('sqlite:');
}

function engineOptions({ runs, storage, store, checkpointer: { ttl } }: Config): EngineOptions {
  return {
    concurrency: runs.concurrency,
    max_attempts: runs.max_attempts,
    single_process: isSingleProcess({ storage }),
    version: VERSION,
    pid: process.pid,
    expiry: { interval_ms: ttl.sweep_interval_minutes * 60_000, limit: ttl.sweep_limit },
    store_expiry_ms: store.ttl.sweep_interval_minutes * 60_000,
  };
}
