import { EventEmitter } from 'node:events';

/** The events between the parts of the server, with what each carries. */
export interface BusEvents {
  /** A run became claimable. */
  readonly 'run.ready': [];
  /** An executing run was cancelled or deleted. */
  readonly 'run.cancelled': [run_id: string];
  /** A delayed run or a cron waits for its time. */
  readonly 'schedule.changed': [];
  /** A webhook delivery waits in the outbox. */
  readonly 'delivery.queued': [];
  /** The run of an A2A task ended. */
  readonly 'task.ended': [run_id: string];
}

/**
 * Notifications between the parts of the server. Any of them may be lost: each subscriber also polls storage, so that a
 * lost notification costs time and never a run or a frame (ENGINE §2).
 */
export interface EventBus {
  emit<Name extends keyof BusEvents>(event: Name, ...payload: BusEvents[Name]): void;
  /** Dispose the subscription to end it. */
  on<Name extends keyof BusEvents>(event: Name, listener: (...payload: BusEvents[Name]) => void): Disposable;
  /** The log or the row of this id (of a run, thread, task or delivery) changed. */
  updated(id: string): void;
  onUpdated(id: string, listener: () => void): Disposable;
}

/** The bus of a single process: listeners are called synchronously. */
export function memoryBus(): EventBus {
  const events = emitter();
  // Keyed by id, so that a change reaches the followers of its run and nobody else.
  const updates = emitter();
  return {
    emit: (event, ...payload) => void events.emit(event, ...payload),
    on: (event, listener) => subscribe(events, event, listener as () => void),
    updated: (id) => void updates.emit(updateOf(id)),
    onUpdated: (id, listener) => subscribe(updates, updateOf(id), listener),
  };
}

/** Every open stream is a listener: the warning at the eleventh does not apply. */
function emitter(): EventEmitter {
  return new EventEmitter().setMaxListeners(0);
}

/** An id such as `error` must not be the event that an emitter throws. */
function updateOf(id: string): string {
  return `updated:${id}`;
}

function subscribe(source: EventEmitter, event: string, listener: () => void): Disposable {
  source.on(event, listener);
  return { [Symbol.dispose]: () => void source.off(event, listener) };
}
