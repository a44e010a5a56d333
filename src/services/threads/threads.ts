import { v5 as uuid5 } from 'uuid';
import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { timestamp } from '../../core/clock.ts';
import { Conflict, NotFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { pickFields } from '../../core/pick-fields.ts';
import type {
  Thread,
  ThreadCreate,
  ThreadFilter,
  ThreadPatch,
  ThreadSearch,
  ThreadTtl,
} from '../../schemas/threads.ts';
import type { Ttl } from '../../storage/threads/row.ts';
import type { ThreadQuery } from '../../storage/threads/search.ts';
import { type Page, pageOf } from '../pagination.ts';
import { cursorAt, cursorRange } from './thread-cursor.ts';
import { type ExtractPaths, extract, parsePaths, valuePaths } from './thread-extract.ts';
import { type ThreadMaintenanceDeps, threadMaintenance } from './thread-maintenance.ts';
import type { ThreadStateService } from './thread-state.ts';

export interface ThreadDeps extends ThreadMaintenanceDeps {
  readonly importHistory: ThreadStateService['importHistory'];
}

export type ThreadService = ReturnType<typeof threadService>;

/** Threads: conversations whose state is shared by runs (contract §2.2). */
export function threadService(deps: ThreadDeps) {
  const { threads, bus, clock, ids, importHistory, default_ttl } = deps;
  return {
    ...threadMaintenance(deps),

    /**
     * `supersteps` are imported as the history of a new thread. An import that was interrupted starts anew with
     * `do_nothing`, and is a `Conflict` otherwise.
     */
    async create(actor: Actor, input: ThreadCreate): Promise<Thread> {
      const thread_id = input.thread_id ?? ids.uuid7();
      const value = {
        thread_id,
        metadata: withoutReservedMetadata(input.metadata ?? {}),
        if_exists: input.if_exists,
        ttl: input.ttl,
      };
      const visibility = await authorize(actor, 'threads:create', value);
      const thread = newThread(thread_id, value, timestamp(clock.now()));
      const ttl = resolveTtl(input.ttl, default_ttl);
      const { supersteps = [] } = input;
      const import_id = supersteps.length > 0 ? ids.uuid4() : undefined;
      const isAgain = input.if_exists === 'do_nothing';
      const inserted =
        (await threads.insert(thread, ttl, import_id)) ||
        (isAgain && (await threads.restartImport(thread, ttl, import_id, visibility)));
      if (inserted && import_id) await importHistory(thread_id, import_id, supersteps);
      if (inserted) bus.emit('row.changed', 'thread', thread_id);
      // As `threads.get` would return it, without reading it back.
      if (inserted && !import_id) return thread;
      const stored = await threads.get(thread_id, undefined, inserted ? undefined : visibility);
      if (stored && (inserted || isAgain)) return stored;
      throw new Conflict(`Thread with ID ${thread_id} already exists`);
    },

    /** `include: ['ttl']` adds the expiry, if there is one. */
    async get(actor: Actor, thread_id: string, include: readonly string[] = []): Promise<Thread> {
      const visibility = await authorize(actor, 'threads:read', { thread_id });
      const thread = await threads.get(thread_id, undefined, visibility);
      if (!thread) throw new NotFound(`Thread with ID ${thread_id} not found`);
      const ttl = include.includes('ttl') ? await threads.expiry(thread_id) : undefined;
      return ttl ? { ...thread, ttl } : thread;
    },

    /** Throws `InvalidInput` for a foreign cursor, and for a cursor when sorting by status. */
    async search(actor: Actor, query: ThreadSearch): Promise<Page<Partial<Thread>, number | string>> {
      const range = cursorRange(query);
      const visibility = await authorize(actor, 'threads:search', { ...query });
      const { select, limit, offset } = query;
      const paths = query.extract && parsePaths(query.extract);
      const wanted = { ...query, ...range, limit: limit + 1, ...columnsToRead(select, paths) };
      const rows = await threads.search(wanted, visibility);
      const found = rows.map(({ key: _, ...row }) => {
        const thread: Partial<Thread> = pickFields(row, select);
        return paths ? { ...thread, extracted: { ...extract(row, paths), ...row.parts } } : thread;
      });
      const page = pageOf(found, limit, offset);
      const last = rows[limit - 1]?.key;
      return last && page.next !== undefined ? { ...page, next: cursorAt(query, last) } : page;
    },

    async count(actor: Actor, filter: ThreadFilter): Promise<number> {
      return threads.count(filter, await authorize(actor, 'threads:search', { ...filter }));
    },

    /** Merges metadata shallowly; always advances `updated_at` (contract §2.2). */
    async update(actor: Actor, thread_id: string, patch: ThreadPatch): Promise<Thread> {
      const metadata = patch.metadata && withoutReservedMetadata(patch.metadata);
      const value = { thread_id, metadata, ttl: patch.ttl };
      const visibility = await authorize(actor, 'threads:update', value);
      const ttl = patch.ttl && resolveTtl(patch.ttl, default_ttl);
      const thread = await threads.update(
        thread_id,
        { metadata: value.metadata, ttl },
        timestamp(clock.now()),
        visibility,
      );
      if (!thread) throw new NotFound('Not Found');
      bus.emit('row.changed', 'thread', thread_id);
      return thread;
    },
  };
}

function newThread(thread_id: string, { metadata }: { metadata: JsonObject }, now: string): Thread {
  return {
    thread_id,
    created_at: now,
    updated_at: now,
    state_updated_at: now,
    metadata,
    config: {},
    status: 'idle',
    values: null,
  };
}

/** States are large: read them whole only if they are returned, or if a path extracts all of `values`. */
function columnsToRead(
  select: ThreadSearch['select'],
  paths: ExtractPaths = {},
): Pick<ThreadQuery, 'select' | 'parts'> {
  if (!select || select.includes('values')) return { select };
  const parts = valuePaths(paths);
  return parts ? { select, parts } : { select: [...select, 'values'] };
}

/** Thread metadata that only the server writes; a client's values are dropped (contract §1). */
const RESERVED_METADATA = ['thread_id', 'run_id', 'cron_id', 'assistant_id'];

function withoutReservedMetadata(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !RESERVED_METADATA.includes(key)));
}

/**
 * Effective TTL: the requested one, with the configured minutes as default. `undefined` if neither is set: no expiry
 * (contract §12).
 */
function resolveTtl(requested: ThreadTtl | undefined, default_ttl: Ttl | undefined): Ttl | undefined {
  if (!requested) return default_ttl;
  const ttl = requested.ttl ?? default_ttl?.ttl;
  return ttl === undefined ? undefined : { strategy: requested.strategy, ttl };
}

/** UUIDv5 namespace of thread ids derived from names; must never change. */
const THREAD_NAMESPACE = 'f0c9a3c4-6b0e-4f5e-9d55-0b1f6f2b7a11';

/**
 * Thread id for a client-chosen conversation name: the name itself if it is a UUID, else a UUIDv5 of owner and name, so
 * that names of different users never collide.
 */
export function threadIdFromName({ principal }: Actor, name: string): string {
  return isUuid(name) ? name.toLowerCase() : uuid5(`${principal}\n${name}`, THREAD_NAMESPACE);
}
