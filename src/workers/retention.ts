import type { Logger } from '../core/logger.ts';
import type { IdempotencyRepository } from '../storage/idempotency.ts';
import type { RunEventRepository } from '../storage/run-events.ts';
import { Loop } from './loop.ts';

const SWEEP_MS = 60_000;
/** Logs dropped in one transaction: others must not wait for it. */
const BATCH = 200;

/** Drops the event logs of runs that ended long enough ago, and keys of requests that nobody repeats any more. */
export function retentionLoop({
  log,
  keys,
  logger,
}: {
  log: RunEventRepository;
  keys: IdempotencyRepository;
  logger: Logger;
}): Loop {
  return new Loop({
    name: 'retention',
    logger,
    async tick() {
      const dropped = await log.dropExpired(BATCH);
      const forgotten = await keys.dropExpired(BATCH);
      return dropped === BATCH || forgotten === BATCH ? 0 : SWEEP_MS;
    },
  });
}
