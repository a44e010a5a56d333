import type { Config } from '../config/schema.ts';
import { VERSION } from '../config/version.ts';
import { runCheckpointer } from '../graphs/checkpointer.ts';
import { type Engine, type EngineOptions, engine } from '../workers/engine.ts';
import type { AttemptRules } from '../workers/run-attempt.ts';
import type { Ground } from './ground.ts';
import { wireDispatcher } from './webhooks.ts';

/** What works without being asked. */
export function wireWorkers({ config, storage, store, ...ground }: Ground): Engine {
  const { queue, events: log, threads, checkpoints, idempotency: keys, attemptWrites: writes } = storage;
  return engine(
    {
      ...ground,
      queue,
      log,
      threads,
      keys,
      outbox: storage.outbox,
      dispatcher: wireDispatcher({ config, storage, store, ...ground }),
      storeItems: storage.storeItems,
      writes,
      memory: (attempt, lease, durability) => ({
        checkpointer: runCheckpointer({ checkpoints, writes: attempt, lease, durability }),
        store,
      }),
      rules: attemptRules(config.runs, ground.keep_log_ms),
    },
    engineOptions(config),
  );
}

function attemptRules({ timeout_seconds }: Config['runs'], keep_log_ms: number): AttemptRules {
  return { timeout_ms: timeout_seconds * 1000, keep_log_ms, retry_ms: 1000, version: VERSION };
}

/** A SQLite file belongs to one process. */
export function isAlone({ storage }: Pick<Config, 'storage'>): boolean {
  return storage.url.startsWith('sqlite:');
}

function engineOptions({ runs, storage, store, webhooks, checkpointer: { ttl } }: Config): EngineOptions {
  return {
    concurrency: runs.concurrency,
    max_attempts: runs.max_attempts,
    alone: isAlone({ storage }),
    version: VERSION,
    pid: process.pid,
    keep_deliveries_ms: webhooks.delivery.keep_days * 86_400_000,
    expiry: { interval_ms: ttl.sweep_interval_minutes * 60_000, limit: ttl.sweep_limit },
    store_expiry_ms: store.ttl.sweep_interval_minutes * 60_000,
  };
}
