import type { Config } from '../config/schema.ts';
import { VERSION } from '../config/version.ts';
import { timestamp } from '../core/clock.ts';
import type { Lazy } from '../core/lazy.ts';
import { runCheckpointer } from '../graphs/checkpointer.ts';
import type { A2aService } from '../services/a2a/a2a.ts';
import type { CronTicks } from '../services/cron-ticks.ts';
import { type Engine, type EngineOptions, engine } from '../workers/engine.ts';
import type { Sweep } from '../workers/retention.ts';
import type { AttemptRules } from '../workers/run-attempt.ts';
import type { Ground } from './ground.ts';
import { wireDispatcher } from './webhooks.ts';

const DAY_MS = 86_400_000;

/** Services that the workers use. */
interface Works {
  readonly cronTicks: CronTicks;
  readonly a2a: Lazy<A2aService>;
}

/** What works without being asked. */
export function wireWorkers(
  { config, storage, store, ...ground }: Ground,
  { cronTicks, a2a }: Works,
): Engine {
  const { checkpoints, attemptWrites: writes, ...work } = storage.work;
  return engine(
    {
      ...ground,
      ...work,
      dispatcher: wireDispatcher({ config, storage, store, ...ground }),
      settleTask: async (row) => (await a2a()).settled(row),
      sweeps: sweepsOf({ ...ground, config, storage }),
      cronTicks: config.crons.enabled ? cronTicks : undefined,
      writes,
      memory: (attempt, lease, durability) => ({
        checkpointer: runCheckpointer({ checkpoints, writes: attempt, lease, durability }),
        store,
      }),
      rules: attemptRules(config.runs, ground.keep_log_ms),
    },
    { ...engineOptions(config), blamed: ground.blamed },
  );
}

/** What is not kept for ever. */
function sweepsOf({ config, storage, clock }: Pick<Ground, 'config' | 'storage' | 'clock'>): Sweep[] {
  const { events, idempotency, outbox, cronFires } = storage.work;
  const keep_deliveries_ms = config.webhooks.delivery.keep_days * DAY_MS;
  const history_ms = config.crons.history_days * DAY_MS;
  return [
    (limit) => events.dropExpired(limit),
    (limit) => idempotency.dropExpired(limit),
    (limit) => outbox.dropEnded(keep_deliveries_ms, limit),
    (limit) => cronFires.dropBefore(timestamp(clock.now() - history_ms), limit),
  ];
}

function attemptRules({ timeout_seconds }: Config['runs'], keep_log_ms: number): AttemptRules {
  return { timeout_ms: timeout_seconds * 1000, keep_log_ms, retry_ms: 1000, version: VERSION };
}

/** A SQLite file belongs to one process. */
export function isAlone({ storage }: Pick<Config, 'storage'>): boolean {
  return storage.url.startsWith('sqlite:');
}

function engineOptions({ runs, storage, store, checkpointer: { ttl } }: Config): EngineOptions {
  return {
    concurrency: runs.concurrency,
    max_attempts: runs.max_attempts,
    alone: isAlone({ storage }),
    version: VERSION,
    pid: process.pid,
    expiry: { interval_ms: ttl.sweep_interval_minutes * 60_000, limit: ttl.sweep_limit },
    store_expiry_ms: store.ttl.sweep_interval_minutes * 60_000,
  };
}
