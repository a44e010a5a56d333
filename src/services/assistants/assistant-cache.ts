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

/** How long a list is kept that nobody said has changed: another process's news may be lost. */
const TTL_MS = 5000;
/** Lists in memory; who sees the same assistants shares one. */
const MAX_LISTS = 100;
const PAGE = 1000;

interface CachedList {
  readonly list: Promise<readonly Assistant[]>;
  readonly until: number;
}

/**
 * Every assistant that a caller may see, the oldest first: the same array as long as none has changed. Tools, models
 * and agents are asked for by names that only the whole list gives, and with each call.
 */
export function assistantCache({ assistants, clock, bus }: AssistantCacheDeps) {
  const lists = new LRUCache<string, CachedList>({ max: MAX_LISTS });
  // For as long as there is the bus, which keeps nothing open.
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

  /** `isFresh`: as it is now, also when another process has changed it a moment ago. */
  return async (actor: Actor, { isFresh = false } = {}): Promise<readonly Assistant[]> => {
    const visibility = await authorize(actor, 'assistants:search', { limit: PAGE, offset: 0 });
    const key = toJson(visibility ?? null);
    const cachedList = lists.get(key);
    if (cachedList && !isFresh && cachedList.until > clock.monotonic()) return cachedList.list;
    // Kept from before it is read: a change meanwhile takes it away again.
    const entry = { list: read(visibility), until: clock.monotonic() + TTL_MS };
    lists.set(key, entry);
    entry.list.catch(() => {
      if (lists.get(key) === entry) lists.delete(key);
    });
    return entry.list;
  };
}
