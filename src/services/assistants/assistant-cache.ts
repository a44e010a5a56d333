import { LRUCache } from 'lru-cache';
import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import type { Clock } from '../../core/clock.ts';
import { toJson } from '../../core/json.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { AssistantRepository } from '../../storage/assistants/assistants.ts';
import { ASSISTANTS_CHANGED } from './assistant-versions.ts';

export interface AssistantCacheDeps {
  readonly assistants: Pick<AssistantRepository, 'search'>;
  readonly clock: Clock;
  readonly bus: Pick<EventBus, 'onUpdated'>;
}

/** TTL of a cached list, ms: bounds staleness if another process's change event is lost. */
const TTL_MS = 5000;
/** LRU capacity; callers with the same visibility share a list. */
const MAX_LISTS = 100;
const PAGE = 1000;

interface CachedList {
  readonly list: Promise<readonly Assistant[]>;
  readonly until: number;
}

/**
 * Every assistant visible to a caller, oldest first; the same array until an assistant changes. Each tool, model and
 * agent lookup needs the whole list, because names are derived from it.
 */
export function assistantCache({ assistants, clock, bus }: AssistantCacheDeps) {
  const lists = new LRUCache<string, CachedList>({ max: MAX_LISTS });
  // Never unsubscribed: the listener lives as long as the bus and does not keep the process alive.
  bus.onUpdated(ASSISTANTS_CHANGED, () => lists.clear());

  async function read(visibility: Visibility | undefined): Promise<readonly Assistant[]> {
    const found: Assistant[] = [];
    for (;;) {
      const page = { limit: PAGE, offset: found.length, sort_by: 'created_at', sort_order: 'asc' } as const;
      const rows = await assistants.search(page, visibility);
      found.push(...rows);
      if (rows.length < PAGE) return found;
    }
  }

  /** `isFresh` bypasses the cache, for changes that another process has just made. */
  return async (actor: Actor, { isFresh = false } = {}): Promise<readonly Assistant[]> => {
    const visibility = await authorize(actor, 'assistants:search', { limit: PAGE, offset: 0 });
    const key = toJson(visibility ?? null);
    const cachedList = lists.get(key);
    if (cachedList && !isFresh && cachedList.until > clock.monotonic()) return cachedList.list;
    // Cached before it is read: a change event during the read then evicts it.
    const entry = { list: read(visibility), until: clock.monotonic() + TTL_MS };
    lists.set(key, entry);
    entry.list.catch(() => {
      if (lists.get(key) === entry) lists.delete(key);
    });
    return entry.list;
  };
}
