import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Clock, timestamp } from '../../core/clock.ts';
import { every } from '../../core/timers.ts';
import type {
  DatabaseStats,
  EndedRun,
  QueueCounts,
  WebhookStats,
  WorkerStats,
} from '../../schemas/system.ts';
import type { ProcessIdentity, SystemHistory } from '../../schemas/system-history.ts';
import { RESOLUTION_MS, secondsOf } from './process.ts';

/** Sampling interval, ms. */
const INTERVAL_MS = 10_000;
/** Retention of samples, ms. */
const RETENTION_MS = 3_600_000;
const MAX_SAMPLES = RETENTION_MS / INTERVAL_MS;

interface Sample extends Partial<Counts> {
  readonly at: number;
  readonly executing: number;
  readonly ended: number;
  readonly failed: number;
  readonly requests: number;
  readonly lag_p99: number;
  readonly lag_max: number;
  readonly memory: number;
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

/** From the database; missing if it did not answer. */
interface Counts {
  pending: number;
  running: number;
  webhooks_pending: number;
  webhooks_dead: number;
}

interface HistorySources {
  queueCounts(): Promise<QueueCounts>;
  webhooks(): Promise<Pick<WebhookStats, 'pending' | 'dead'>>;
  workers(): WorkerStats;
  database(): DatabaseStats;
  onRunEnded(listener: (run: EndedRun) => void): void;
}

export interface HistoryDeps {
  readonly engine: HistorySources;
  readonly process: ProcessIdentity;
  readonly clock: Pick<Clock, 'now'>;
}

/** Samples of this process over the last hour. Sampling runs from `start` to `stop`. */
export function openHistory({ engine, process: identity, clock }: HistoryDeps) {
  const samples: Sample[] = [];
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const totals = { ended: 0, failed: 0, requests: 0 };
  const since = timestamp(clock.now());
  let timer: Disposable | undefined;
  let isAsking = false;
  engine.onRunEnded(({ status }) => {
    totals.ended += 1;
    if (status === 'error' || status === 'timeout') totals.failed += 1;
  });

  /** Everything that needs no database. */
  function measure(): Sample {
    const pools = Object.values(engine.database().pools);
    const sum = (of: 'open' | 'idle' | 'waiting') => pools.reduce((all, pool) => all + pool[of], 0);
    return {
      ...totals,
      at: clock.now(),
      executing: engine.workers().active,
      lag_p99: secondsOf(delays.percentile(99)),
      lag_max: secondsOf(delays.max),
      memory: process.memoryUsage.rss(),
      ...{ open: sum('open'), idle: sum('idle'), waiting: sum('waiting') },
    };
  }

  /** Counts from the database; `{}` if it fails. */
  async function count(): Promise<Partial<Counts>> {
    try {
      const [queue, { pending, dead }] = await Promise.all([engine.queueCounts(), engine.webhooks()]);
      return {
        ...{ pending: queue.n_pending, running: queue.n_running },
        ...{ webhooks_pending: pending, webhooks_dead: dead },
      };
    } catch {
      return {};
    }
  }

  /**
   * Stores a sample, and adds the database's counts once they arrive. Does not query the database again while a
   * query is pending.
   */
  async function sample(): Promise<void> {
    const added = measure();
    samples.push(added);
    if (samples.length > MAX_SAMPLES) samples.shift();
    delays.reset();
    if (isAsking) return;
    isAsking = true;
    Object.assign(added, await count());
    isAsking = false;
  }

  return {
    requestEnded(): void {
      totals.requests += 1;
    },

    sample,

    start(): void {
      delays.enable();
      timer = every(INTERVAL_MS, () => void sample()).unref();
    },

    stop(): void {
      timer?.[Symbol.dispose]();
      delays.disable();
    },

    /** The samples of the last hour, and a current one that is not stored. */
    async read(): Promise<SystemHistory> {
      const counts = await count();
      const last = { ...measure(), ...counts };
      const recent = samples.filter(({ at }) => at > last.at - RETENTION_MS && at < last.at);
      return {
        process: identity,
        since,
        interval_seconds: INTERVAL_MS / 1000,
        ...columns([...recent, last]),
      };
    },
  };
}

function columns(samples: readonly Sample[]): Omit<SystemHistory, 'process' | 'since' | 'interval_seconds'> {
  const of = (field: Exclude<keyof Sample, keyof Counts>) => samples.map((sample) => sample[field]);
  const known = (field: keyof Counts) => samples.map((sample) => sample[field] ?? null);
  return {
    at: of('at').map(timestamp),
    runs: {
      pending: known('pending'),
      running: known('running'),
      executing: of('executing'),
      ended_total: of('ended'),
      failed_total: of('failed'),
    },
    webhooks: { pending: known('webhooks_pending'), dead: known('webhooks_dead') },
    requests_total: of('requests'),
    event_loop_lag_seconds: { p99: of('lag_p99'), max: of('lag_max') },
    memory_bytes: of('memory'),
    connections: { open: of('open'), idle: of('idle'), waiting: of('waiting') },
  };
}
