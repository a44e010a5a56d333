import type { Logger } from '../core/logger.ts';
import type { StoreItemRepository } from '../storage/store/items.ts';
import { Loop } from './loop.ts';

/** Items removed in one transaction: others must not wait for it. */
const BATCH = 500;

/** Removes items of the long-term store whose time is over (CONTRACT §12). */
export function storeExpiryLoop({
  items,
  interval_ms,
  logger,
}: {
  items: Pick<StoreItemRepository, 'expire'>;
  /** Between two sweeps. */
  interval_ms: number;
  logger: Logger;
}): Loop {
  let swept = 0;
  return new Loop({
    name: 'store expiry',
    logger,
    async tick() {
      const expired = await items.expire(BATCH);
      swept += expired;
      if (expired === BATCH) return 0;
      if (swept > 0) logger.info('store items expired', { items: swept });
      swept = 0;
      return interval_ms;
    },
  });
}
