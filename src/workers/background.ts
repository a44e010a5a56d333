import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { LongTermStore } from '../graphs/store/long-term-store.ts';
import type { CronTicks } from '../services/crons/cron-ticks.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { ReapRules } from '../storage/queue/reap.ts';
import type { StoreItemRepository } from '../storage/store/items.ts';
import type { StoreStateAfterRun } from '../storage/threads/state-after-run.ts';
import type { ThreadRepository } from '../storage/threads/threads.ts';
import type { WebhookOutbox } from '../storage/webhooks/outbox.ts';
import { heartbeatMs } from './lease.ts';
import type { Loop } from './loop.ts';
import {
  IDLE_SWEEP_MS,
  retentionLoop,
  type Sweep,
  storeExpiryLoop,
  storeIndexLoop,
  type ThreadExpiryRules,
  threadExpiryLoop,
} from './maintenance.ts';
import { reaperLoop } from './reaper.ts';
import { cronLoop, delayedRunsLoop } from './schedules.ts';

export interface BackgroundDeps {
  readonly queue: RunQueue;
  readonly outbox: WebhookOutbox;
  readonly threads: ThreadRepository;
  readonly storeItems: StoreItemRepository;
  readonly longTermStore: LongTermStore;
  /** Retention sweeps: those that are made every minute, and those that pause while they find nothing. */
  readonly sweeps: { readonly prompt: readonly Sweep[]; readonly others: readonly Sweep[] };
  /** `undefined` if other servers run the crons. */
  readonly cronTicks: CronTicks | undefined;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As in `AttemptContext`. */
  readonly storeStateAfterRun?: StoreStateAfterRun | undefined;
}

export interface BackgroundOptions {
  /** How long a process may be silent before others take its runs, ms. */
  readonly lease_ms: number;
  readonly reap: ReapRules;
  /** As in `WorkerLease`. */
  readonly nothingLostFor: () => number;
  /** Interval and limit of the sweep of expired threads. */
  readonly expiry: ThreadExpiryRules;
  /** Interval of the sweep of expired store items, ms. */
  readonly store_expiry_ms: number;
}

/**
 * Work that any process may do, and each row's by one: crons, delayed runs, recovery, expiry.
 * There is no leader that could be lost: each row is taken by compare-and-set.
 */
export function backgroundWork(deps: BackgroundDeps, options: BackgroundOptions) {
  const { bus, logger } = deps;
  const dueRuns = delayedRunsLoop(deps);
  const crons = deps.cronTicks && cronLoop({ ...deps, ticks: deps.cronTicks });
  const { reap: rules, nothingLostFor, lease_ms } = options;
  const reaper = reaperLoop({ ...deps, rules, nothingLostFor, heartbeat_ms: heartbeatMs(lease_ms) });
  const loops: readonly Loop[] = [
    reaper,
    dueRuns,
    ...(crons ? [crons] : []),
    retentionLoop({ sweeps: deps.sweeps.prompt, logger }),
    retentionLoop({ sweeps: deps.sweeps.others, longest_ms: IDLE_SWEEP_MS, logger }),
    threadExpiryLoop({ threads: deps.threads, rules: options.expiry, logger }),
    storeExpiryLoop({ items: deps.storeItems, interval_ms: options.store_expiry_ms, logger }),
    storeIndexLoop({ store: deps.longTermStore, logger }),
  ];
  const wakeSchedules = () => {
    dueRuns.wake();
    crons?.wake();
  };
  let subscriptions: Disposable[] = [];

  return {
    /** Dead processes hold work. */
    recover: () => reaper.wake(),

    start(): void {
      subscriptions = [bus.on('schedule.changed', wakeSchedules), bus.on('reconnected', wakeSchedules)];
      for (const loop of loops) loop.start();
    },

    async stop(): Promise<void> {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
