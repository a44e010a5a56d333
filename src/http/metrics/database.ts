import { type Clock, systemClock } from '../../core/clock.ts';
import type { ConnectionStats, DatabaseStats } from '../../schemas/system.ts';
import { type Meters, OURS } from './meters.ts';
import { Counter, Gauge } from './prometheus.ts';

/** How long the database size is cached, ms: PostgreSQL asks the file system for every file of every table. */
const SIZE_MS = 60_000;

interface DatabaseSources {
  database(): DatabaseStats;
  /** Size of the stored data, bytes. */
  storageBytes(): Promise<number>;
}

/** Metrics of the database, with connections by pool. SQLite has no pools. */
export function measureDatabase({ database, storageBytes }: DatabaseSources, meters: Meters) {
  measurePools(database, meters);
  const size = new Gauge({
    name: `${OURS}storage_bytes`,
    help: 'Size of the database: the SQLite file, or the tables and indexes of the schema; at most a minute old.',
    registers: [meters.registry],
  });
  return { refresh: sizeReader(storageBytes, (bytes) => size.set(bytes)) };
}

/**
 * Keeps the last size if it cannot be read: the other metrics are needed most while the database has problems.
 */
function sizeReader(
  read: () => Promise<number>,
  onRead: (bytes: number) => void,
  clock: Pick<Clock, 'monotonic'> = systemClock,
): () => Promise<void> {
  let read_at = Number.NEGATIVE_INFINITY;
  return async () => {
    if (clock.monotonic() - read_at < SIZE_MS) return;
    read_at = clock.monotonic();
    await read().then(onRead, () => {});
  };
}

function measurePools(database: () => DatabaseStats, { registry, prefix }: Meters): void {
  const common = { labelNames: ['pool'] as const, registers: [registry] };
  const gauge = (name: string, help: string, read: (pool: ConnectionStats) => number) =>
    new Gauge({
      ...common,
      name,
      help,
      collect() {
        this.reset();
        for (const [pool, stats] of Object.entries(database().pools)) this.set({ pool }, read(stats));
      },
    });
  const counter = (name: string, help: string, read: (pool: ConnectionStats) => number) =>
    new Counter({
      ...common,
      name,
      help,
      collect() {
        this.reset();
        for (const [pool, stats] of Object.entries(database().pools)) this.inc({ pool }, read(stats));
      },
    });
  const pool = `${prefix}pg_pool_`;
  gauge(`${pool}max`, 'Connections that the pool may open.', ({ max }) => max);
  gauge(`${pool}size`, 'Open connections of the pool.', ({ open }) => open);
  gauge(`${pool}available`, 'Idle open connections.', ({ idle }) => idle);
  counter(
    `${pool}requests_queued_total`,
    'Requests for a connection that had to wait because all were in use.',
    ({ queued }) => queued,
  );
  counter(
    `${pool}requests_errors_total`,
    'Requests for a connection that failed: timeouts, and failures to connect.',
    ({ errors }) => errors,
  );
  gauge(
    `${OURS}pg_pool_waiting`,
    'Requests and runs that are waiting for a connection.',
    ({ waiting }) => waiting,
  );
  new Counter({
    name: `${OURS}pg_retries_total`,
    help: 'Statements and transactions that were retried, by their first error: an SQLSTATE, or the code of a connection error.',
    labelNames: ['code'] as const,
    registers: [registry],
    collect() {
      this.reset();
      for (const [code, count] of Object.entries(database().retries)) this.inc({ code }, count);
    },
  });
}
