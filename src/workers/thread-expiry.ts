import type { Logger } from '../core/logger.ts';
import type { ExpiryCursor } from '../storage/threads/expiry.ts';
import type { ThreadRepository } from '../storage/threads/threads.ts';
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
  let expired = 0;
  let looked_at = 0;
  let after: ExpiryCursor | undefined;
  return new Loop({
    name: 'thread expiry',
    logger,
    async tick() {
      const page = await threads.expire(Math.min(BATCH, rules.limit - looked_at), after);
      for (const { thread_id, error } of page.failed) {
        logger.error('cannot delete an expired thread', { thread_id, error });
      }
      looked_at += page.looked_at;
      expired += page.expired;
      after = page.next;
      if (after && looked_at < rules.limit) return 0;
      if (expired > 0) logger.info('threads expired', { threads: expired });
      expired = 0;
      looked_at = 0;
      after = undefined;
      return rules.interval_ms;
    },
  });
}
