import type { Actor } from '../auth/actor.ts';
import { type Clock, timestamp } from '../core/clock.ts';
import { Conflict, NotFound } from '../core/errors.ts';
import type { Ids } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type {
  Thread,
  ThreadCreate,
  ThreadFilter,
  ThreadPatch,
  ThreadPrune,
  ThreadSearch,
  ThreadStorage,
  ThreadsPruned,
} from '../schemas/threads.ts';
import type { Ttl } from '../storage/thread-ttl.ts';
import type { ThreadRepository } from '../storage/threads.ts';
import { type Page, pageOf, pick } from './page.ts';
import { extract, extractsValues } from './thread-extract.ts';
import type { ThreadStateService } from './thread-state.ts';
import { ttlOf } from './thread-ttl.ts';

export interface ThreadDeps {
  readonly threads: ThreadRepository;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Tells whoever executes these runs that they are gone. */
  readonly control: (run_ids: string[]) => void;
  readonly replay: ThreadStateService['replay'];
  /** What becomes of threads that do not say it; undefined: they stay. */
  readonly default_ttl: Ttl | undefined;
}

/** Keys of a thread's metadata that only the server writes: a client's are dropped (CONTRACT §1). */
const RESERVED = ['thread_id', 'run_id', 'cron_id', 'assistant_id'];

export type ThreadService = ReturnType<typeof threadService>;

/** Threads: what runs share, a conversation (CONTRACT §2.2). */
export function threadService({ threads, clock, ids, control, replay, default_ttl }: ThreadDeps) {
  async function remove(thread_id: string): Promise<boolean> {
    const stopped = await threads.delete(thread_id);
    if (stopped) control(stopped);
    return stopped !== undefined;
  }

  return {
    /** `supersteps` become the history of a thread that is new. */
    async create(actor: Actor, input: ThreadCreate): Promise<Thread> {
      const thread_id = input.thread_id ?? ids.uuid7();
      const thread = newThread(thread_id, input, timestamp(clock.now()));
      const inserted = await threads.insert(thread, ttlOf(input.ttl, default_ttl));
      if (inserted && input.supersteps?.length) await replay(actor, thread_id, input.supersteps);
      const stored = await threads.get(thread_id);
      if (stored && (inserted || input.if_exists === 'do_nothing')) return stored;
      throw new Conflict(`Thread with ID ${thread_id} already exists`);
    },

    /** `include` of `ttl` adds when the thread goes, if it does. */
    async get(_actor: Actor, thread_id: string, include: readonly string[] = []): Promise<Thread> {
      const thread = await threads.get(thread_id);
      if (!thread) throw new NotFound(`Thread with ID ${thread_id} not found`);
      const ttl = include.includes('ttl') ? await threads.expiry(thread_id) : undefined;
      return ttl ? { ...thread, ttl } : thread;
    },

    async search(_actor: Actor, query: ThreadSearch): Promise<Page<Partial<Thread>>> {
      const { select, extract: paths, limit, offset } = query;
      const rows = await threads.search({ ...query, limit: limit + 1, select: columns(query) });
      const found = rows.map((row) => {
        const thread: Partial<Thread> = pick(row, select);
        return paths ? { ...thread, extracted: extract(row, paths) } : thread;
      });
      return pageOf(found, limit, offset);
    },

    count(_actor: Actor, filter: ThreadFilter): Promise<number> {
      return threads.count(filter);
    },

    /** Merges metadata shallow; `updated_at` moves even when nothing changed (CONTRACT §2.2). */
    async update(_actor: Actor, thread_id: string, patch: ThreadPatch): Promise<Thread> {
      const metadata = patch.metadata && withoutReserved(patch.metadata);
      const ttl = patch.ttl && ttlOf(patch.ttl, default_ttl);
      const thread = await threads.update(thread_id, { metadata, ttl }, timestamp(clock.now()));
      if (!thread) throw new NotFound('Not Found');
      return thread;
    },

    /** Its runs, events and checkpoints go too; what executes is stopped. */
    async delete(_actor: Actor, thread_id: string): Promise<void> {
      if (!(await remove(thread_id))) throw new NotFound(`Thread with ID ${thread_id} not found`);
    },

    /**
     * Deletes threads, or what of their history is not needed to go on. Nothing happens when one is missing; what a run
     * is busy with keeps its history, and is not counted.
     */
    async prune(_actor: Actor, { thread_ids, strategy }: ThreadPrune): Promise<ThreadsPruned> {
      const ids = [...new Set(thread_ids)];
      if ((await threads.countOf(ids)) < ids.length) {
        throw new NotFound('At least one thread not found or not authorized');
      }
      let pruned_count = 0;
      for (const thread_id of ids) {
        const pruned =
          strategy === 'delete' ? await remove(thread_id) : await threads.keepNewestCheckpoint(thread_id);
        if (pruned) pruned_count += 1;
      }
      return { pruned_count };
    },

    /** What the history of a thread takes. */
    async storage(actor: Actor, thread_id: string): Promise<ThreadStorage> {
      await this.get(actor, thread_id);
      return threads.size(thread_id);
    },

    /** A new thread with the state and the whole history of another, and none of its runs. */
    async copy(_actor: Actor, thread_id: string): Promise<Thread> {
      const copy = await threads.copy(thread_id, ids.uuid4(), timestamp(clock.now()), default_ttl);
      if (!copy) throw new Conflict('Conflict');
      return copy;
    },
  };
}

function newThread(thread_id: string, input: ThreadCreate, now: string): Thread {
  return {
    thread_id,
    created_at: now,
    updated_at: now,
    state_updated_at: now,
    metadata: withoutReserved(input.metadata ?? {}),
    status: 'idle',
    config: {},
    values: null,
  };
}

function withoutReserved(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !RESERVED.includes(key)));
}

/** What must be read to answer: values are large and come only when somebody looks at them. */
function columns({ select, extract: paths }: ThreadSearch): ThreadSearch['select'] {
  return select && extractsValues(paths) ? [...select, 'values'] : select;
}
