import type { Logger } from '../core/logger.ts';
import type { ThreadRepository } from '../storage/threads.ts';
import { Loop } from './loop.ts';

/** Threads between two looks at whether to stop. */
const BATCH = 100;

export interface ExpiryRules {
  /** Between two sweeps, ms. */
  readonly interval_ms: number;
  /** Threads in one sweep. */
  readonly limit: number;
}

/** Removes threads whose time is over, or their history (CONTRACT §12). */
export function threadExpiryLoop({
  threads,
  rules,
  logger,
}: {
  threads: Pick<ThreadRepository, 'expire'>;
  rules: ExpiryRules;
  logger: Logger;
}): Loop {
  let swept = 0;
  return new Loop({
    name: 'thread expiry',
    logger,
    async tick() {
      const expired = await threads.expire(Math.min(BATCH, rules.limit - swept));
      swept += expired;
      if (expired === BATCH && swept < rules.limit) return 0;
      if (swept > 0) logger.info('threads expired', { threads: swept });
      swept = 0;
      return rules.interval_ms;
    },
  });
}
