import { EventEmitter } from 'node:events';

/** Events between the parts of the server, with their payloads. */
export interface BusEvents {
  /** A run became claimable. */
  readonly 'run.ready': [];
  /** An executing run was cancelled or deleted. */
  readonly 'run.cancelled': [run_id: string];
  /** A due time was added or moved (delayed run, retry, cron). */
  readonly 'schedule.changed': [];
  /** A webhook delivery is pending in the outbox. */
  readonly 'delivery.queued': [];
  /** The run of an A2A task ended. */
  readonly 'task.ended': [run_id: string];
}

/**
 * Notifications between the parts of the server, at-most-once. Every subscriber also polls storage, so that a lost
 * notification costs latency, never a run or a frame (ENGINE §2).
 */
export interface EventBus {
  emit<Name extends keyof BusEvents>(event: Name, ...payload: BusEvents[Name]): void;
  /** Dispose the result to unsubscribe. */
  on<Name extends keyof BusEvents>(event: Name, listener: (...payload: BusEvents[Name]) => void): Disposable;
  /** Publishes that the log or row of this id (run, thread, task or delivery) changed. */
  updated(id: string): void;
  onUpdated(id: string, listener: () => void): Disposable;
}

/** In-process bus: listeners are called synchronously. */
export function memoryBus(): EventBus {
  const events = emitter();
  // One event name per id: an update wakes only the followers of that id.
  const updates = emitter();
  return {
    emit: (event, ...payload) => void events.emit(event, ...payload),
    on: (event, listener) => subscribe(events, event, listener as () => void),
    updated: (id) => void updates.emit(updateOf(id)),
    onUpdated: (id, listener) => subscribe(updates, updateOf(id), listener),
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
