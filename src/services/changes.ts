import type { AccessEvent, Actor } from '../auth/actor.ts';
import { authorize } from '../auth/authorize.ts';
import { ServerError } from '../core/errors.ts';
import { toJson } from '../core/json.ts';
import { Latch } from '../core/latch.ts';
import { sleep } from '../core/timers.ts';
import type { ChangeKind, EventBus } from '../events/bus.ts';
import { CHANGE_KINDS, type ChangedIds, ChangeSet, publishChanges, watchChanges } from '../events/changes.ts';
import type { Frame } from '../events/frame.ts';
import type { LongTermStore } from '../graphs/store/long-term-store.ts';
import type { Visibility } from '../storage/access/visibility.ts';
import type { OwnedKind } from '../storage/access/visible-ids.ts';
import type { StoreItemRepository } from '../storage/store/items.ts';
import type { StoreAddress } from '../storage/store/visible-items.ts';

export interface ChangeDeps {
  readonly bus: EventBus;
  /** Returns the ids of those rows that exist and are visible. */
  readonly visibleIds: (kind: OwnedKind, ids: readonly string[], visibility: Visibility) => Promise<string[]>;
  readonly storeItems: StoreItemRepository;
  readonly longTermStore: Pick<LongTermStore, 'onChanged'>;
}

/** Minimum interval between two events of a stream, ms. */
const INTERVAL_MS = 250;
/** Timeout of one wait, ms. Changes wake the stream; this only bounds the timer. */
const IDLE_MS = 3_600_000;

/** Permission that a caller needs to see changes of each kind. */
const EVENTS: Record<OwnedKind, AccessEvent> = {
  run: 'threads:search',
  thread: 'threads:search',
  assistant: 'assistants:search',
  cron: 'crons:search',
  delivery: 'threads:search',
};

/** Returns the ids whose rows the actor may read. */
type ReadableIds = (ids: readonly string[]) => Promise<readonly string[]>;

/** By kind; omits kinds without rows that the actor may read. */
type Readable = ReadonlyMap<ChangeKind, ReadableIds>;

export type ChangeService = ReturnType<typeof changeService>;

/** Streams which rows changed, so that clients need not poll lists. */
export function changeService({ bus, longTermStore, ...deps }: ChangeDeps) {
  // Never disposed: it lives as long as the bus and does not keep the process alive.
  publishChanges(bus);
  longTermStore.onChanged((item) => bus.emit('row.changed', 'item', itemIdOf(item)));

  async function visibleChanges(
    changes: readonly [ChangeKind, ChangedIds][],
    readable: Readable,
  ): Promise<Partial<Record<ChangeKind, ChangedIds>>> {
    const seen: Partial<Record<ChangeKind, ChangedIds>> = {};
    for (const [kind, { ids, more }] of changes) {
      const readableIds = readable.get(kind);
      if (!readableIds) continue;
      const own = ids.length === 0 ? ids : await readableIds(ids);
      if (own.length > 0 || more) seen[kind] = { ids: own, more };
    }
    return seen;
  }

  async function* frames(readable: Readable, signal: AbortSignal): AsyncGenerator<Frame> {
    const pending = new ChangeSet();
    const changed = new Latch();
    // Subscribe before the first frame: a list that is read after it then misses no change of this process.
    using _watching = watchChanges(bus, (kind, ids, more) => {
      pending.add(kind, ids, more);
      changed.open();
    });
    yield { seq: 0, event: 'ready', data: '{}' };
    while (!signal.aborted) {
      if (!(await changed.wait(IDLE_MS, signal))) continue;
      const changes = await visibleChanges(pending.take(), readable);
      if (Object.keys(changes).length === 0) continue;
      yield { seq: 0, event: 'changes', data: toJson(changes) };
      await sleep(INTERVAL_MS, signal);
    }
  }

  return {
    /**
     * Streams the ids of changed rows by kind from now until `signal` aborts, at most 4 events a second. Covers
     * only rows that the actor may read; without access rules also deleted rows and keys. Throws `Forbidden` if
     * the actor may read no kind.
     */
    async follow(actor: Actor, signal: AbortSignal): Promise<AsyncIterable<Frame>> {
      return frames(await readableKinds(actor, deps), signal);
    },
  };
}

const all: ReadableIds = async (ids) => ids;

async function readableKinds(
  actor: Actor,
  deps: Pick<ChangeDeps, 'visibleIds' | 'storeItems'>,
): Promise<Readable> {
  if (actor.rules.length === 0) return new Map(CHANGE_KINDS.map((kind) => [kind, all]));
  const readable = new Map<ChangeKind, ReadableIds>();
  let refusal: unknown;
  const add = async (kind: ChangeKind, ids: () => Promise<ReadableIds>) => {
    try {
      readable.set(kind, await ids());
    } catch (error) {
      // An auth handler refuses with an error of its own.
      if (!(error instanceof ServerError && error.status === 403)) throw error;
      refusal = error;
    }
  };
  for (const [kind, event] of Object.entries(EVENTS) as [OwnedKind, AccessEvent][]) {
    await add(kind, async () => {
      const visibility = await authorize(actor, event, {});
      return visibility ? (ids) => deps.visibleIds(kind, ids, visibility) : all;
    });
  }
  await add('item', () => readableItems(actor, deps));
  if (readable.size === 0) throw refusal;
  return readable;
}

/** Rules may restrict a store search to a namespace. */
async function readableItems(
  actor: Actor,
  { storeItems }: Pick<ChangeDeps, 'storeItems'>,
): Promise<ReadableIds> {
  const requested = { namespace: [] as string[] };
  const visibility = await authorize(actor, 'store:search', requested);
  const namespace_prefix = requested.namespace;
  if (!visibility && namespace_prefix.length === 0) return all;
  return async (ids) => {
    const visible = await storeItems.visible(ids.map(itemAddressOf), { namespace_prefix, visibility });
    return visible.map(itemIdOf);
  };
}

/** Id of a store item in change events: namespace labels and key, percent-encoded and joined by slashes. */
function itemIdOf({ namespace, key }: StoreAddress): string {
  return [...namespace, key].map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

/** Inverse of `itemIdOf`. */
function itemAddressOf(id: string): StoreAddress {
  const parts = id.split('/').map(decodeURIComponent);
  return { namespace: parts.slice(0, -1), key: parts.at(-1) ?? '' };
}
