import type { Actor } from '../auth/actor.ts';
import { requireUnrestricted } from '../auth/authorize.ts';
import { type Clock, timestamp } from '../core/clock.ts';
import type { LeaseView } from '../schemas/system.ts';
import type { SystemHistory } from '../schemas/system-history.ts';
import type { HourOfRuns, ServerWarning, SystemOverview } from '../schemas/system-overview.ts';
import { type EndedInHour, HOUR_LENGTH } from '../storage/overview.ts';
import type { Storage } from '../storage/storage.ts';

export interface SystemDeps {
  readonly storage: Pick<Storage, 'queue' | 'crons' | 'outbox' | 'overview' | 'processes' | 'interrupts'>;
  /** What the operator should know, as far as it can be known at once. */
  readonly warnings: () => Promise<ServerWarning[]>;
  readonly versions: SystemOverview['versions'];
  readonly clock: Clock;
}

/** How long the thread count and the warnings are cached, ms: SQLite reads 16 MB to count a million threads. */
const CACHED_MS = 60_000;
/** How long the runs by hour are cached, ms, if they are not few: few are counted each time. */
const HOURS_CACHED_MS = 5_000;
const FEW_RUNS = 1_000;
/** A cron this late counts as overdue, ms; processes poll for crons every few seconds. */
const OVERDUE_MS = 60_000;

export type SystemService = ReturnType<typeof systemService>;

/** The state of the whole server. */
export function systemService({ storage, versions, clock, ...deps }: SystemDeps) {
  const { queue, crons, outbox, overview, processes, interrupts } = storage;
  const totalThreads = cached(clock, () => overview.totalThreads());
  const warnings = cached(clock, deps.warnings);
  const cachedHours = cached(clock, () => overview.endedByHour(), HOURS_CACHED_MS);

  return {
    /** Oldest first. Throws `Forbidden` for users and tokens. */
    async leases(actor: Actor, limit: number): Promise<LeaseView[]> {
      requireUnrestricted(actor, 'Leases');
      return processes.leases(limit);
    },

    /** Measurements of this process, from `read`. Throws `Forbidden` for users and tokens. */
    async history(actor: Actor, read: () => Promise<SystemHistory>): Promise<SystemHistory> {
      requireUnrestricted(actor, 'Measurements of the server');
      return read();
    },

    /** Counts rows of all users, and names hosts and processes: throws `Forbidden` for users and tokens. */
    async overview(actor: Actor): Promise<SystemOverview> {
      requireUnrestricted(actor, 'Overviews of the server');
      const now_ms = clock.now();
      const ended = await overview.endedRuns();
      const endedInAll = ended.success + ended.error + ended.timeout + ended.interrupted;
      const [stats, oldest, byHour, waiting, all, threads, cronStats, webhooks, live, size, known] =
        await Promise.all([
          queue.stats(),
          overview.oldestWaiting(),
          endedInAll < FEW_RUNS ? overview.endedByHour() : cachedHours(),
          interrupts.countNewest(),
          totalThreads(),
          overview.threads(),
          crons.stats(timestamp(now_ms - OVERDUE_MS)),
          outbox.stats(),
          processes.list(),
          overview.size(),
          warnings(),
        ]);
      return {
        runs: {
          pending: stats.n_pending,
          running: stats.n_running,
          oldest_waiting: oldest ?? null,
          ended,
          hours: lastHours(now_ms, byHour),
        },
        threads: { total: all, ...threads },
        interrupts: waiting,
        crons: { enabled: cronStats.n_crons, overdue: cronStats.n_overdue_crons },
        webhooks,
        processes: live,
        storage: size,
        warnings: known,
        versions,
        at: timestamp(now_ms),
      };
    },
  };
}

const HOUR_MS = 3_600_000;

/** Also the hours in which no run ended. */
function lastHours(now_ms: number, found: readonly EndedInHour[]): HourOfRuns[] {
  const byHour = new Map(found.map(({ hour, ...counts }) => [hour, counts]));
  const none = { ended: 0, failed: 0, median_seconds: null };
  return Array.from({ length: 24 }, (_, n) => {
    const at = timestamp(Math.floor(now_ms / HOUR_MS - (23 - n)) * HOUR_MS);
    return { at, ...(byHour.get(at.slice(0, HOUR_LENGTH)) ?? none) };
  });
}

/** Caches a value for `ms`; a failure is not cached. */
function cached<Value>(clock: Clock, read: () => Promise<Value>, ms = CACHED_MS): () => Promise<Value> {
  let last: { readonly value: Promise<Value>; readonly until: number } | undefined;
  return () => {
    if (last && last.until > clock.monotonic()) return last.value;
    const value = read();
    last = { value, until: clock.monotonic() + ms };
    value.catch(() => {
      last = undefined;
    });
    return value;
  };
}
