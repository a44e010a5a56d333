/**
 * What the parts of the server tell each other. Every message may be lost: each receiver also looks at storage by
 * itself, so that a lost message costs time and never a run or a frame (ENGINE §2).
 */
export interface EventBus {
  /** A run became ready. */
  runReady(): void;
  /** Something waits for a time to come: a run, or a cron. */
  scheduleChanged(): void;
  /** Something waits to be sent to others. */
  deliveryQueued(): void;
  /** The run of an A2A task ended. */
  taskEnded(run_id: string): void;
  /** The log of a run, or of a thread, has news. */
  updated(id: string): void;
  /** A run that executes was cancelled or deleted. */
  runCancelled(run_id: string): void;
  onRunReady(listener: () => void): Disposable;
  onScheduleChanged(listener: () => void): Disposable;
  onDeliveryQueued(listener: () => void): Disposable;
  onTaskEnded(listener: (run_id: string) => void): Disposable;
  onUpdated(id: string, listener: () => void): Disposable;
  onRunCancelled(listener: (run_id: string) => void): Disposable;
}

/** The bus of a single process: messages are function calls. */
export function memoryBus(): EventBus {
  const wakes = new Set<() => void>();
  const schedules = new Set<() => void>();
  const outboxes = new Set<() => void>();
  const tasks = new Set<(run_id: string) => void>();
  const controls = new Set<(run_id: string) => void>();
  const hints = new Map<string, Set<() => void>>();
  return {
    runReady() {
      for (const listener of wakes) listener();
    },
    scheduleChanged() {
      for (const listener of schedules) listener();
    },
    deliveryQueued() {
      for (const listener of outboxes) listener();
    },
    taskEnded(run_id) {
      for (const listener of tasks) listener(run_id);
    },
    updated(run_id) {
      for (const listener of hints.get(run_id) ?? []) listener();
    },
    runCancelled(run_id) {
      for (const listener of controls) listener(run_id);
    },
    onRunReady: (listener) => subscription(wakes, listener),
    onScheduleChanged: (listener) => subscription(schedules, listener),
    onDeliveryQueued: (listener) => subscription(outboxes, listener),
    onTaskEnded: (listener) => subscription(tasks, listener),
    onRunCancelled: (listener) => subscription(controls, listener),
    onUpdated(run_id, listener) {
      const listeners = hints.get(run_id) ?? new Set();
      hints.set(run_id, listeners.add(listener));
      return {
        [Symbol.dispose]() {
          listeners.delete(listener);
          if (listeners.size === 0 && hints.get(run_id) === listeners) hints.delete(run_id);
        },
      };
    },
  };
}

function subscription<Listener>(listeners: Set<Listener>, listener: Listener): Disposable {
  listeners.add(listener);
  return {
    [Symbol.dispose]() {
      listeners.delete(listener);
    },
  };
}
