import { after, type Timer } from '../core/timers.ts';
import type { ChangeKind, EventBus } from './bus.ts';

export const CHANGE_KINDS: readonly ChangeKind[] = [
  'run',
  'thread',
  'assistant',
  'cron',
  'delivery',
  'item',
  'key',
];

/** Changed rows of one kind. */
export interface ChangedIds {
  readonly ids: readonly string[];
  /** There are others, which are not named. */
  readonly more: boolean;
}

/** Ids kept of each kind; beyond, a list is better read anew than row by row. */
const MAX_IDS = 1000;
/** How long a process collects changes before it publishes them, ms: a run changes several times while it starts. */
const WINDOW_MS = 100;
/** Ids in one notification between processes, which are limited to 7,900 bytes; the ids of items are long. */
const IDS_PER_EVENT = 100;
const ID_CHARACTERS_PER_EVENT = 7000;

/** Changes that are not published yet: each id once, at most `MAX_IDS` of each kind. */
export class ChangeSet {
  #kinds = new Map<ChangeKind, { ids: Set<string>; more: boolean }>();

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  add(kind: ChangeKind, ids: readonly string[], more = false): void {
    const known = this.#kinds.get(kind) ?? { ids: new Set(), more: false };
    this.#kinds.set(kind, known);
    known.more ||= more;
    for (const id of ids) {
      if (known.ids.size < MAX_IDS) known.ids.add(id);
      else known.more ||= !known.ids.has(id);
    }
  }

  /** Everything so far; the set is empty afterwards. */
  take(): [ChangeKind, ChangedIds][] {
    const kinds = this.#kinds;
    this.#kinds = new Map();
    return [...kinds].map(([kind, { ids, more }]) => [kind, { ids: [...ids], more }]);
  }
}

/** Publishes the changes of this process to every process that watches them, coalesced. */
export function publishChanges(bus: EventBus): Disposable {
  const pending = new ChangeSet();
  let timer: Timer | undefined;
  const publish = () => {
    timer = undefined;
    for (const [kind, { ids, more }] of pending.take()) {
      for (const batch of batches(ids)) bus.emit('rows.changed', kind, batch.join(), more ? 'more' : '');
    }
  };
  const subscription = bus.on('row.changed', (kind, id) => {
    pending.add(kind, [id]);
    timer ??= after(WINDOW_MS, publish).unref();
  });
  return {
    [Symbol.dispose]() {
      subscription[Symbol.dispose]();
      timer?.[Symbol.dispose]();
    },
  };
}

function batches(ids: readonly string[]): string[][] {
  const all: string[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const id of ids) {
    characters += id.length + 1;
    if (characters > ID_CHARACTERS_PER_EVENT || (all.at(-1)?.length ?? 0) >= IDS_PER_EVENT) {
      all.push([]);
      characters = id.length;
    }
    all.at(-1)?.push(id);
  }
  return all;
}

/** Calls `listener` with each batch of changes, of every process. Dispose the result to unsubscribe. */
export function watchChanges(
  bus: EventBus,
  listener: (kind: ChangeKind, ids: readonly string[], more: boolean) => void,
): Disposable {
  const subscriptions = [
    bus.on('rows.changed', (kind, ids, more) => {
      // A process of a later version may send a kind that is not known here.
      if (CHANGE_KINDS.includes(kind)) listener(kind, ids.split(','), more !== '');
    }),
    bus.on('reconnected', () => {
      for (const kind of CHANGE_KINDS) listener(kind, [], true);
    }),
  ];
  return {
    [Symbol.dispose]() {
      for (const subscription of subscriptions) subscription[Symbol.dispose]();
    },
  };
}
