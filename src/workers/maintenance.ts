import type { Logger } from '../core/logger.ts';
import type { LongTermStore } from '../graphs/store/long-term-store.ts';
import type { StoreItemRepository } from '../storage/store/items.ts';
import type { ExpiryCursor } from '../storage/threads/expiry.ts';
import type { ThreadRepository } from '../storage/threads/threads.ts';
import { Loop } from './loop.ts';

const SWEEP_MS = 60_000;
/** Interval of sweeps that find nothing, round after round, ms: leftovers that no request ever sees. */
export const IDLE_SWEEP_MS = 5 * SWEEP_MS;
/** Rows deleted per transaction: bounds how long other writers wait. */
const RETENTION_BATCH = 500;

/** Deletes up to `limit` expired rows; returns how many. */
export type Sweep = (limit: number) => Promise<number>;

/** Retention: deletes expired rows, such as the event logs of runs that ended long enough ago. */
export function retentionLoop(options: Parameters<typeof retentionTick>[0]): Loop {
  return new Loop({ name: 'retention', tick: retentionTick(options), logger: options.logger });
}

/**
 * Resolves to the delay before the next round, ms: a minute, doubled after each one in which no sweep found anything, up
 * to `longest_ms`.
 */
export function retentionTick({
  sweeps,
  longest_ms = SWEEP_MS,
  logger,
}: {
  readonly sweeps: readonly Sweep[];
  readonly longest_ms?: number;
  readonly logger: Logger;
}): () => Promise<number> {
  let delay_ms = SWEEP_MS;
  return async () => {
    let [hasMore, isIdle] = [false, true];
    // A failed sweep does not block the others; it is retried in the next round.
    for (const sweep of sweeps) {
      try {
        const deleted = await sweep(RETENTION_BATCH);
        hasMore ||= deleted === RETENTION_BATCH;
        isIdle &&= deleted === 0;
      } catch (error) {
        isIdle = false;
        logger.error('cannot delete expired rows', { error });
      }
    }
    delay_ms = isIdle ? Math.min(2 * delay_ms, longest_ms) : SWEEP_MS;
    return hasMore ? 0 : delay_ms;
  };
}

/** Threads per tick: the loop can stop in between. */
const THREAD_EXPIRY_BATCH = 100;

export interface ThreadExpiryRules {
  /** Sweep interval, ms. */
  readonly interval_ms: number;
  /** Threads per sweep. */
  readonly limit: number;
}

/** Deletes expired threads, or their history (contract §12). */
export function threadExpiryLoop({
  threads,
  rules,
  logger,
}: {
  threads: ThreadRepository;
  rules: ThreadExpiryRules;
  logger: Logger;
}): Loop {
  let expired = 0;
  let scanned = 0;
  let cursor: ExpiryCursor | undefined;
  return new Loop({
    name: 'thread expiry',
    logger,
    async tick() {
      const page = await threads.expire(Math.min(THREAD_EXPIRY_BATCH, rules.limit - scanned), cursor);
      for (const { thread_id, error } of page.failed) {
        logger.error('cannot delete an expired thread', { thread_id, error });
      }
      scanned += page.examined;
      expired += page.expired;
      cursor = page.next;
      if (cursor && scanned < rules.limit) return 0;
      if (expired > 0) logger.info('threads expired', { threads: expired });
      expired = 0;
      scanned = 0;
      cursor = undefined;
      return rules.interval_ms;
    },
  });
}

/** Items deleted per transaction: bounds how long other writers wait. */
const STORE_EXPIRY_BATCH = 500;

/** Deletes expired items of the long-term store (contract §12). */
export function storeExpiryLoop({
  items,
  interval_ms,
  logger,
}: {
  items: StoreItemRepository;
  /** Sweep interval. */
  interval_ms: number;
  logger: Logger;
}): Loop {
  let expired_total = 0;
  return new Loop({
    name: 'store expiry',
    logger,
    async tick() {
      const expired = await items.expire(STORE_EXPIRY_BATCH);
      expired_total += expired;
      if (expired === STORE_EXPIRY_BATCH) return 0;
      if (expired_total > 0) logger.info('store items expired', { items: expired_total });
      expired_total = 0;
      return interval_ms;
    },
  });
}

const STORE_INDEX_BATCH = 50;
/** Re-check interval, ms: another server with another configuration may put items that this index lacks. */
const REINDEX_INTERVAL_MS = 600_000;

/** Backfill: computes the vectors of items that were put before `store.index` had its present configuration. */
export function storeIndexLoop({
  store,
  logger,
}: {
  store: Pick<LongTermStore, 'indexBatch'>;
  logger: Logger;
}): Loop {
  let indexed = 0;
  return new Loop({
    name: 'store index',
    logger,
    async tick() {
      const done = await store.indexBatch(STORE_INDEX_BATCH);
      if (indexed === 0 && done > 0)
        logger.info('indexing the store; searches find the items indexed so far');
      indexed += done;
      if (done > 0) return 0;
      if (indexed > 0) logger.info('store indexed', { items: indexed });
      indexed = 0;
      return REINDEX_INTERVAL_MS;
    },
  });
}
