import { LRUCache } from 'lru-cache';
import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import type { Clock } from '../../core/clock.ts';
import { toJson } from '../../core/json.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { AssistantRepository } from '../../storage/assistants/assistants.ts';
import type { AssistantSummary } from '../../storage/assistants/summaries.ts';
import { ASSISTANTS_CHANGED } from './assistant-versions.ts';

/** TTL of a cached list, ms: bounds staleness if another process's change event is lost. */
const TTL_MS = 5000;
/** LRU capacity; callers with the same visibility share a list. */
const MAX_LISTS = 100;
/** Total size of the cached lists, bytes; a larger list is never cached. */
const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** Estimated overhead per assistant and per list beyond its text, bytes. */
const OVERHEAD_BYTES = 500;
const PAGE = 1000;

interface CachedList {
  readonly list: Promise<readonly AssistantSummary[]>;
  readonly until: number;
  /** Bytes; the overhead alone until the read completes. */
  readonly size: number;
}

/**
 * A summary of every assistant visible to a caller, oldest first; the same array until an assistant changes. Each tool, model and
 * agent lookup needs the whole list, because names are derived from it.
 */
export function assistantCache(assistants: AssistantRepository, clock: Clock, bus: EventBus) {
  const lists = new LRUCache<string, CachedList>({
    max: MAX_LISTS,
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ size }) => size,
  });
  // Never unsubscribed: the listener lives as long as the bus and does not keep the process alive.
  bus.onUpdated(ASSISTANTS_CHANGED, () => lists.clear());

  /** Caches the promise before the read completes, so that a change event during the read evicts it. */
  function read(key: string, visibility: Visibility | undefined): Promise<readonly AssistantSummary[]> {
    const until = clock.monotonic() + TTL_MS;
    const reading = assistants.summaries(visibility);
    const list = reading.then((found) => found.list);
    const entry = { list, until, size: OVERHEAD_BYTES };
    lists.set(key, entry);
    const isCached = () => lists.peek(key) === entry;
    reading.then(
      ({ bytes, list: { length } }) => {
        const size = bytes + OVERHEAD_BYTES * (length + 1);
        if (isCached()) lists.set(key, { list, until, size });
      },
      () => {
        if (isCached()) lists.delete(key);
      },
    );
    return list;
  }

  /** `isFresh` bypasses the cache, for changes that another process has just made. */
  return async (actor: Actor, { isFresh = false } = {}): Promise<readonly AssistantSummary[]> => {
    const visibility = await authorize(actor, 'assistants:search', { limit: PAGE, offset: 0 });
    const key = toJson(visibility ?? null);
    const cachedList = lists.get(key);
    if (cachedList && !isFresh && cachedList.until > clock.monotonic()) return cachedList.list;
    return read(key, visibility);
  };
}
