import { EventEmitter } from 'node:events';
import type { StoredLines } from '../storage/runs/run-logs.ts';

/** What a changed row is of. */
export type ChangeKind = 'run' | 'thread' | 'assistant' | 'cron' | 'delivery' | 'item' | 'key';

/** Events between the parts of the server, with their payloads. `BUS_ROUTES` defines which processes each one reaches. */
export interface BusEvents {
  /** A run became claimable. */
  readonly 'run.ready': [];
  /**
   * Runs are claimable that the sending process cannot take. `is_first`: this process is the one that should claim
   * now; the others look a moment later whether any are left.
   */
  readonly 'runs.offered': [is_first: boolean];
  /** An executing run was cancelled or deleted. */
  readonly 'run.cancelled': [run_id: string];
  /** A due time was added or moved (delayed run, retry, cron). */
  readonly 'schedule.changed': [];
  /** A webhook delivery is pending in the outbox. */
  readonly 'delivery.queued': [];
  /** A run ended whose end a rider follows. */
  readonly 'run.ended': [run_id: string];
  /** Something happened that only one extension understands. */
  readonly 'extension.event': [name: string, text: string];
  /** A process asks what a run does now, which another one may execute. */
  readonly 'steps.asked': [question: string, thread_id: string, run_id: string];
  /** The answer in chunks: `part` counts from 0 to below `parts`. */
  readonly 'steps.answered': [question: string, part: string, parts: string, chunk: string];
  /** A row was inserted, changed or deleted. */
  readonly 'row.changed': [kind: ChangeKind, id: string];
  /** The same of a while: ids, separated by commas; `more`: `''` if these are all. */
  readonly 'rows.changed': [kind: ChangeKind, ids: string, more: string];
  /** A run of this process printed lines, which are committed. At its end they may be deleted already, with the thread. */
  readonly 'lines.stored': [lines: StoredLines];
  /** Events of other processes may have been missed: poll once. */
  readonly reconnected: [];
}

/**
 * `all`: every process. `local`: this one. `others`: every other process that executes runs, one of them first.
 * `one`: this process if it has a listener, else one of those with background work. `watchers`: this process and every
 * other one that has a listener for changes.
 */
export type BusRoute = 'all' | 'local' | 'others' | 'one' | 'watchers';

export const BUS_ROUTES: Readonly<Record<keyof BusEvents, BusRoute>> = {
  'run.ready': 'local',
  'runs.offered': 'others',
  'run.cancelled': 'all',
  'schedule.changed': 'one',
  'delivery.queued': 'one',
  'run.ended': 'one',
  'extension.event': 'all',
  'steps.asked': 'all',
  'steps.answered': 'all',
  'row.changed': 'local',
  'rows.changed': 'watchers',
  'lines.stored': 'local',
  reconnected: 'local',
};

/**
 * How often subscribers poll. `rare`: every event arrives, and a poll only bridges the death of a sender. `usual`: events
 * of this process arrive. `frequent`: instead of the events of other processes, as configured or as a last resort.
 */
export type PollRate = 'rare' | 'usual' | 'frequent';

/** Poll intervals, ms. */
export type PollIntervals = Readonly<Record<PollRate, number>>;

/**
 * Notifications between the parts of the server, at-most-once. Every subscriber also polls storage, so that a lost
 * notification costs latency, never a run or a frame (engine §2). Listeners of the same process are called
 * synchronously.
 */
export interface EventBus {
  emit<Name extends keyof BusEvents>(event: Name, ...payload: BusEvents[Name]): void;
  /** Dispose the result to unsubscribe. */
  on<Name extends keyof BusEvents>(event: Name, listener: (...payload: BusEvents[Name]) => void): Disposable;
  /**
   * Publishes that the log or row of this id (run, thread, task or delivery) changed; to some only if not everyone can
   * see the change, or some already know.
   */
  updated(id: string, audience?: 'all' | 'local' | 'others'): void;
  onUpdated(id: string, listener: () => void): Disposable;
  /** Changes at any time. */
  readonly poll_rate: PollRate;
}

/** The listeners of this process. */
export interface LocalListeners extends Omit<EventBus, 'updated' | 'poll_rate'> {
  updated(id: string): void;
  has(event: keyof BusEvents): boolean;
  /** Calls the update listeners of every id. */
  updateAll(): void;
}

/** Publishes that a log grew, or ended, without an `EventWriter`: to who follows the run, and to who follows its thread. */
export function logUpdated(
  bus: EventBus,
  { run_id, thread_id }: { readonly run_id: string; readonly thread_id: string },
): void {
  bus.updated(run_id);
  bus.updated(thread_id);
}

/** In-process bus: the only process on its database. */
export function memoryBus(poll_rate: PollRate = 'usual'): EventBus {
  const local = localListeners();
  return {
    ...local,
    emit: (event, ...payload) => {
      if (BUS_ROUTES[event] !== 'others') local.emit(event, ...payload);
    },
    updated: (id, audience = 'all') => {
      if (audience !== 'others') local.updated(id);
    },
    poll_rate,
  };
}

export function localListeners(): LocalListeners {
  const events = emitter();
  // One event name per id: an update wakes only the followers of that id.
  const updates = emitter();
  return {
    emit: (event, ...payload) => void events.emit(event, ...payload),
    on: (event, listener) => subscribe(events, event, listener as () => void),
    has: (event) => events.listenerCount(event) > 0,
    updated: (id) => void updates.emit(updateOf(id)),
    onUpdated: (id, listener) => subscribe(updates, updateOf(id), listener),
    updateAll: () => {
      for (const name of updates.eventNames()) updates.emit(name);
    },
  };
}

/** Every open stream is a listener: no limit, so that Node does not warn at the 11th. */
function emitter(): EventEmitter {
  return new EventEmitter().setMaxListeners(0);
}

/** Prefixed: `EventEmitter` throws on an unhandled `error` event, and an id may be `error`. */
function updateOf(id: string): string {
  return `updated:${id}`;
}

function subscribe(source: EventEmitter, event: string, listener: () => void): Disposable {
  source.on(event, listener);
  return { [Symbol.dispose]: () => void source.off(event, listener) };
}
