import type { Actor } from '../auth/actor.ts';
import { requireUnrestricted } from '../auth/authorize.ts';
import { type Clock, timestamp } from '../core/clock.ts';
import type { LeaseView, SystemOverview } from '../schemas/system.ts';
import type { Storage } from '../storage/storage.ts';

export interface SystemDeps {
  readonly storage: Pick<Storage, 'queue' | 'crons' | 'outbox' | 'overview' | 'processes'>;
  readonly versions: SystemOverview['versions'];
  readonly clock: Clock;
}

/** How long the number of threads is kept, ms: SQLite reads 16 MB to count a million. */
const TOTAL_TTL_MS = 60_000;
/** A cron that is later counts as overdue, ms; processes look for crons of others every few seconds. */
const OVERDUE_MS = 60_000;

export type SystemService = ReturnType<typeof systemService>;

/** The state of the whole server. */
export function systemService({ storage, versions, clock }: SystemDeps) {
  const { queue, crons, outbox, overview, processes } = storage;
  let total = { threads: Promise.resolve(0), until: Number.NEGATIVE_INFINITY };

  function totalThreads(): Promise<number> {
    if (total.until > clock.monotonic()) return total.threads;
    const threads = overview.totalThreads();
    total = { threads, until: clock.monotonic() + TOTAL_TTL_MS };
    threads.catch(() => {
      total = { ...total, until: Number.NEGATIVE_INFINITY };
    });
    return threads;
  }

  return {
    /** The oldest first. Throws `Forbidden` for users and tokens. */
    async leases(actor: Actor, limit: number): Promise<LeaseView[]> {
      requireUnrestricted(actor, 'Leases');
      return processes.leases(limit);
    },

    /** Counts rows of all users, and names hosts and processes: throws `Forbidden` for users and tokens. */
    async overview(actor: Actor): Promise<SystemOverview> {
      requireUnrestricted(actor, 'Overviews of the server');
      const now_ms = clock.now();
      const [stats, ended, all, threads, cronStats, webhooks, live, size] = await Promise.all([
        queue.stats(),
        overview.endedRuns(),
        totalThreads(),
        overview.threads(),
        crons.stats(timestamp(now_ms - OVERDUE_MS)),
        outbox.stats(),
        processes.list(),
        overview.size(),
      ]);
      return {
        runs: { pending: stats.n_pending, running: stats.n_running, ended },
        threads: { total: all, ...threads },
        crons: { enabled: cronStats.n_crons, overdue: cronStats.n_overdue_crons },
        webhooks,
        processes: live,
        storage: size,
        versions,
        at: timestamp(now_ms),
      };
    },
  };
}
