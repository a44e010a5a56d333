import { HostLost } from '../core/errors.ts';
import { publicFailure } from '../core/failure.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import {
  type Attempt,
  type AttemptContext,
  type Outcome,
  recordAttempt,
  retryWhileUnavailable,
} from './attempt.ts';
import { announceReleased } from './released-run.ts';
import { runFields, runStats } from './run-log.ts';

/** Longest delay of a run whose server's clock is behind, ms: another server, or NTP, may be faster than time. */
const MAX_CLOCK_DELAY_MS = 30_000;

type Release = Extract<Outcome, { kind: 'release' }>;

/** Stores the output of the attempt, so that the next attempt and the followers resume after it. */
export async function requeue(deps: AttemptContext, attempt: Attempt, release: Release): Promise<boolean> {
  logReleased(deps, attempt, release);
  const { charge, host_ended, storage_failed, lease_ended, clock_behind_ms } = release;
  const record = recordAttempt(deps, attempt, 'retried');
  const batch = await attempt.writes.drain();
  const is_clock_behind = clock_behind_ms !== undefined;
  const delay_ms = charge
    ? deps.rules.retry_ms
    : Math.min(Math.ceil(clock_behind_ms ?? 0), MAX_CLOCK_DELAY_MS);
  const ofHost = charge && host_ended ? hostFailure(deps, attempt) : undefined;
  const ofStorage = storage_failed && deps.storageFailure;
  const released = await retryWhileUnavailable(deps, attempt, (failures) =>
    deps.queue.requeue(attempt.claimed.lease, {
      charge,
      delay_ms,
      batch,
      is_clock_behind,
      ...(host_ended && { failure: ofHost, failure_of: 'graph host' as const }),
      // Storage takes this at once, with what it refused before: the run itself may be too much for it.
      ...(failures === 0 && ofStorage && { failure: ofStorage, failure_of: 'storage' as const }),
    }),
  );
  if (released) {
    attempt.log.committed();
    if (!lease_ended && released.outcome === 'ended')
      deps.onEnded?.(runStats(attempt, 'error', deps.clock.now()));
    deps.onRecorded?.({ claimed: attempt.claimed, steps: batch.steps, attempt: record });
    // Reads of the state wait until the attempt has ended.
    attempt.writes[Symbol.dispose]();
    await announceReleased(deps, attempt.claimed.lease, released);
  } else attempt.writes.undrain(batch);
  return released !== undefined;
}

function logReleased({ logger, clock }: AttemptContext, attempt: Attempt, { charge }: Release): void {
  const message = 'run released, it will be retried';
  const { failure, log } = attempt;
  const fields = runFields(attempt);
  // What the server decided itself, such as to replace a graph host, has a reason and no place.
  if (charge) logger.warn(message, { ...fields, error: failure });
  else
    logger.info(message, {
      ...fields,
      ...(failure !== undefined && { reason: publicFailure(failure).message }),
    });
  log.keep(charge ? 'warn' : 'info', message, clock.now());
}

/** Reports to the client how the host ended. */
function hostFailure(
  { hostFailure: rules }: AttemptContext,
  { failure }: Attempt,
): FailurePolicy | undefined {
  if (!rules || !(failure instanceof HostLost)) return rules;
  const { error, message } = rules.exhausted;
  return { ...rules, exhausted: { error, message: `${message} ${failure.message}` } };
}
