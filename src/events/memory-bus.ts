import type { EventBus } from './bus.ts';

/** The bus of a single process: messages are function calls. */
export function memoryBus(): EventBus {
  const wakes = new Set<() => void>();
  const schedules = new Set<() => void>();
  const outboxes = new Set<() => void>();
  const tasks = new Set<(run_id: string) => void>();
  const controls = new Set<(run_id: string) => void>();
  const hints = new Map<string, Set<() => void>>();
  return {
    wake() {
      for (const listener of wakes) listener();
    },
    scheduled() {
      for (const listener of schedules) listener();
    },
    outbox() {
      for (const listener of outboxes) listener();
    },
    task(run_id) {
      for (const listener of tasks) listener(run_id);
    },
    hint(run_id) {
      for (const listener of hints.get(run_id) ?? []) listener();
    },
    control(run_id) {
      for (const listener of controls) listener(run_id);
    },
    onWake: (listener) => subscription(wakes, listener),
    onScheduled: (listener) => subscription(schedules, listener),
    onOutbox: (listener) => subscription(outboxes, listener),
    onTask: (listener) => subscription(tasks, listener),
    onControl: (listener) => subscription(controls, listener),
    onHint(run_id, listener) {
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
