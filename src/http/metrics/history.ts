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

/** The numbers of a sample; `NaN` means unknown. */
const FIELDS = [
  'at',
  'pending',
  'running',
  'executing',
  'ended',
  'failed',
  'webhooks_pending',
  'webhooks_dead',
  'requests',
  'lag_p99',
  'lag_max',
  'memory',
  'connections_open',
  'connections_idle',
  'connections_waiting',
] as const;
type Sample = Record<(typeof FIELDS)[number], number>;

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

/** Samples of this process over the last hour, in 43 kB of memory. Sampling runs from `start` to `stop`. */
export function openHistory({ engine, process: identity, clock }: HistoryDeps) {
  const ring = new Ring();
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
      ...UNKNOWN,
      ...totals,
      at: clock.now(),
      executing: engine.workers().active,
      lag_p99: secondsOf(delays.percentile(99)),
      lag_max: secondsOf(delays.max),
      memory: process.memoryUsage.rss(),
      connections_open: sum('open'),
      connections_idle: sum('idle'),
      connections_waiting: sum('waiting'),
    };
  }

  /** Counts from the database; `{}` if it fails. */
  async function count(): Promise<Partial<Sample>> {
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
    const number = ring.add(measure());
    delays.reset();
    if (isAsking) return;
    isAsking = true;
    ring.complete(number, await count());
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
      const recent = ring.samples().filter(({ at }) => at > last.at - RETENTION_MS && at < last.at);
      return {
        process: identity,
        since,
        interval_seconds: INTERVAL_MS / 1000,
        ...columns([...recent, last]),
      };
    },
  };
}

const UNKNOWN = Object.fromEntries(FIELDS.map((field) => [field, Number.NaN])) as Sample;

function columns(samples: readonly Sample[]): Omit<SystemHistory, 'process' | 'since' | 'interval_seconds'> {
  const of = (field: keyof Sample) => samples.map((sample) => sample[field]);
  const known = (field: keyof Sample) => of(field).map((value) => (Number.isNaN(value) ? null : value));
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
    connections: {
      open: of('connections_open'),
      idle: of('connections_idle'),
      waiting: of('connections_waiting'),
    },
  };
}

/** Ring buffer of the newest samples, allocated once. */
class Ring {
  readonly #values = new Float64Array(MAX_SAMPLES * FIELDS.length);
  #added = 0;

  /** Returns the number of the sample, from 0. */
  add(sample: Sample): number {
    const number = this.#added++;
    this.#write(number, sample);
    return number;
  }

  /** Adds values that arrived later, unless the sample has been overwritten. */
  complete(number: number, values: Partial<Sample>): void {
    if (number >= this.#added - MAX_SAMPLES) this.#write(number, values);
  }

  /** Oldest first. */
  samples(): Sample[] {
    const first = Math.max(0, this.#added - MAX_SAMPLES);
    return Array.from({ length: this.#added - first }, (_, index) => this.#read(first + index));
  }

  #write(number: number, values: Partial<Sample>): void {
    const from = (number % MAX_SAMPLES) * FIELDS.length;
    for (const [index, field] of FIELDS.entries()) {
      const value = values[field];
      if (value !== undefined) this.#values[from + index] = value;
    }
  }

  #read(number: number): Sample {
    const from = (number % MAX_SAMPLES) * FIELDS.length;
    return Object.fromEntries(
      FIELDS.map((field, index) => [field, this.#values[from + index] as number]),
    ) as Sample;
  }
}
