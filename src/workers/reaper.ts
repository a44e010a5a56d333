import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { ReapRules } from '../storage/queue/reap.ts';
import { HEARTBEAT_MS } from './heartbeat.ts';
import { Loop } from './loop.ts';

const REAP_MS = 5_000;

/** Grace period after a database outage, ms: every live worker renews its lease within it. */
const GRACE_MS = 2 * HEARTBEAT_MS;

export interface ReaperDeps {
  readonly queue: Pick<RunQueue, 'reap'>;
  readonly bus: EventBus;
  readonly rules: ReapRules;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Requeues the runs of dead workers, or ends them. */
export function reaperLoop(deps: ReaperDeps): Loop {
  return new Loop({ name: 'reaper', tick: reaperTick(deps), logger: deps.logger });
}

/**
 * During a database outage no worker can renew its lease, so that all leases have expired when it is over: the reaper
 * lets live workers renew first. Resolves to the delay before the next tick, ms.
 */
export function reaperTick({ queue, bus, rules, clock, logger }: ReaperDeps): () => Promise<number> {
  let grace_until = 0;
  return async () => {
    const grace_ms = grace_until - clock.monotonic();
    if (grace_ms > 0) return grace_ms;
    const taken = await queue.reap(rules).catch((error: unknown) => {
      grace_until = clock.monotonic() + GRACE_MS;
      throw error;
    });
    if (taken > 0) {
      logger.warn('recovered runs of a dead worker', { runs: taken });
      bus.emit('run.ready');
      bus.emit('schedule.changed');
      bus.emit('delivery.queued');
    }
    return REAP_MS;
  };
}
