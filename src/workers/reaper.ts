import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/logger.ts';
import { type EventBus, logUpdated } from '../events/bus.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { LostRun, ReapRules } from '../storage/queue/reap.ts';
import type { RunLogFields } from '../storage/queue/run-log-fields.ts';
import type { StoreStateAfterRun } from '../storage/threads/state-after-run.ts';
import type { WebhookOutbox } from '../storage/webhooks/outbox.ts';
import { Loop } from './loop.ts';

/** Heartbeats within the grace period after a database outage: every live worker renews its lease within it. */
const GRACE_BEATS = 2;
/** Interval at which workers are deleted that are gone, ms: nothing depends on it. */
const DELETION_MS = 300_000;

export interface ReaperDeps {
  readonly queue: RunQueue;
  readonly outbox: WebhookOutbox;
  readonly bus: EventBus;
  readonly rules: ReapRules;
  /** Heartbeat interval of workers, ms; dead ones are looked for as often. */
  readonly heartbeat_ms: number;
  /** As in `WorkerLease`. */
  readonly nothingLostFor: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly storeStateAfterRun?: StoreStateAfterRun | undefined;
}

/** Requeues the runs of dead workers, or ends them, and releases the deliveries that they were sending. */
export function reaperLoop(deps: ReaperDeps): Loop {
  return new Loop({ name: 'reaper', tick: reaperTick(deps), logger: deps.logger });
}

/**
 * During a database outage no worker can renew its lease, so that all leases have expired when it ends: the reaper lets live
 * workers renew first. Heartbeats search too: it does while none has just done so, or if one found something. Resolves to
 * the delay before the next tick, ms.
 */
export function reaperTick(deps: ReaperDeps): () => Promise<number> {
  const { queue, heartbeat_ms, nothingLostFor, clock } = deps;
  let grace_until = 0;
  let delete_at = clock.monotonic();
  async function search(): Promise<number> {
    const nothing_ms = nothingLostFor();
    if (nothing_ms > 0) return nothing_ms;
    await recover(deps, () => {
      grace_until = clock.monotonic() + GRACE_BEATS * heartbeat_ms;
    });
    return heartbeat_ms;
  }
  return async () => {
    const grace_ms = grace_until - clock.monotonic();
    if (grace_ms > 0) return grace_ms;
    const delay_ms = await search();
    if (clock.monotonic() >= delete_at) {
      await queue.deleteExpiredWorkers();
      delete_at = clock.monotonic() + DELETION_MS;
    }
    return delay_ms;
  };
}

async function recover(deps: ReaperDeps, onFailure: () => void): Promise<void> {
  const { queue, bus, rules, logger, storeStateAfterRun } = deps;
  let senders: readonly string[] = [];
  const onLostSenders = (worker_ids: readonly string[]) => {
    senders = worker_ids;
  };
  const ended: LostRun[] = [];
  const onEnded = (run: LostRun) => {
    ended.push(run);
    logUpdated(bus, run);
    if (run.announces_end) bus.emit('run.ended', run.run_id);
    rules.onEnded?.(run);
  };
  const onReclaimed = (fields: RunLogFields, status: string | null | undefined) =>
    logger.warn('recovered a run of a dead worker', { ...fields, ...(status && { status }) });
  const taken = await queue
    .reap({ ...rules, onEnded, onReclaimed, onLostSenders })
    .catch((error: unknown) => {
      onFailure();
      throw error;
    });
  if (taken > 0) {
    bus.emit('run.ready');
    bus.emit('schedule.changed');
    bus.emit('delivery.queued');
  }
  await Promise.all(ended.map((run) => storeStateAfterRun?.(run)));
  // After the runs: they need not wait for the row of a delivery that a frozen process has locked.
  if (senders.length > 0) await release(deps, senders);
}

async function release({ outbox, bus, logger }: ReaperDeps, worker_ids: readonly string[]): Promise<void> {
  const deliveries = await outbox.releaseLost(worker_ids);
  if (deliveries === 0) return;
  logger.warn('released deliveries of a dead worker', { deliveries });
  bus.emit('delivery.queued');
}
