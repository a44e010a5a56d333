import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import { type EventBus, logUpdated } from '../events/bus.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { LostRun, ReapRules } from '../storage/queue/reap.ts';
import type { WebhookOutbox } from '../storage/webhooks/outbox.ts';
import { Loop } from './loop.ts';

/** Heartbeats within the grace period after a database outage: every live worker renews its lease within it. */
const GRACE_BEATS = 2;
/** Ticks between two deletions of workers that are gone. */
const TICKS_PER_DELETION = 12;

export interface ReaperDeps {
  readonly queue: Pick<RunQueue, 'reap' | 'deleteExpiredWorkers'>;
  readonly outbox: Pick<WebhookOutbox, 'releaseLost'>;
  readonly bus: EventBus;
  readonly rules: ReapRules;
  /** Heartbeat interval of workers, ms; dead ones are looked for as often. */
  readonly heartbeat_ms: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Requeues the runs of dead workers, or ends them, and releases the deliveries that they were sending. */
export function reaperLoop(deps: ReaperDeps): Loop {
  return new Loop({ name: 'reaper', tick: reaperTick(deps), logger: deps.logger });
}

/**
 * During a database outage no worker can renew its lease, so that all leases have expired when it is over: the reaper
 * lets live workers renew first. Resolves to the delay before the next tick, ms.
 */
export function reaperTick({
  queue,
  outbox,
  bus,
  rules,
  heartbeat_ms,
  clock,
  logger,
}: ReaperDeps): () => Promise<number> {
  let grace_until = 0;
  let ticks = 0;
  async function release(worker_ids: readonly string[]): Promise<void> {
    const deliveries = await outbox.releaseLost(worker_ids);
    if (deliveries === 0) return;
    logger.warn('released deliveries of a dead worker', { deliveries });
    bus.emit('delivery.queued');
  }
  function onEnded(run: LostRun): void {
    logUpdated(bus, run);
    rules.onEnded?.(run);
  }
  return async () => {
    const grace_ms = grace_until - clock.monotonic();
    if (grace_ms > 0) return grace_ms;
    let senders: readonly string[] = [];
    const onLostSenders = (worker_ids: readonly string[]) => {
      senders = worker_ids;
    };
    const taken = await queue.reap({ ...rules, onEnded, onLostSenders }).catch((error: unknown) => {
      grace_until = clock.monotonic() + GRACE_BEATS * heartbeat_ms;
      throw error;
    });
    if (taken > 0) {
      logger.warn('recovered runs of a dead worker', { runs: taken });
      bus.emit('run.ready');
      bus.emit('schedule.changed');
      bus.emit('delivery.queued');
    }
    // After the runs: they need not wait for the row of a delivery that a frozen process has locked.
    if (senders.length > 0) await release(senders);
    if (ticks % TICKS_PER_DELETION === 0) await queue.deleteExpiredWorkers();
    ticks += 1;
    return heartbeat_ms;
  };
}
