import type { Logger } from '../core/logger.ts';
import type { LongTermStore } from '../graphs/long-term-store.ts';
import { Loop } from './loop.ts';

const BATCH = 50;
/** Another server on the database, with another configuration, may put items that this one's index does not know. */
const LOOK_AGAIN_MS = 600_000;

/** Makes the vectors of items that were put before `store.index` was what it is now. */
export function storeIndexLoop({
  store,
  logger,
}: {
  store: Pick<LongTermStore, 'indexSome'>;
  logger: Logger;
}): Loop {
  let indexed = 0;
  return new Loop({
    name: 'store index',
    logger,
    async tick() {
      const done = await store.indexSome(BATCH);
      if (indexed === 0 && done > 0)
        logger.info('indexing the store; searches find the items indexed so far');
      indexed += done;
      if (done > 0) return 0;
      if (indexed > 0) logger.info('store indexed', { items: indexed });
      indexed = 0;
      return LOOK_AGAIN_MS;
    },
  });
}
