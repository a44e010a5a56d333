import type { HostStatus } from '../protocol/watch.ts';

interface Order {
  /** Answers of the watch since. */
  answers: number;
  /** Turns of the event loop, as the second answer said. */
  turns: number;
}

/**
 * Orders to stop that code in a host did not obey in time. Each lasts until the event loop of the host is known to have
 * turned after it: code that blocks the loop never heard of its order, however short it has blocked so far.
 */
export class StopOrders {
  /** By run; `undefined` is code that belongs to no run. */
  readonly #orders = new Map<string | undefined, Order>();

  add(run_id: string | undefined): void {
    this.#orders.set(run_id, { answers: 0, turns: 0 });
  }

  onStatus({ turns }: HostStatus): void {
    for (const [run_id, order] of this.#orders) {
      order.answers += 1;
      // The first answer may have been on its way when the order was given.
      if (order.answers <= 2) order.turns = turns;
      // The loop counts a turn before it reads messages: only between two turns it has certainly read the order.
      else if (turns - order.turns >= 2) this.#orders.delete(run_id);
    }
  }

  /** Whose order the code at `place` disobeys; `undefined` if it may block the event loop. */
  disobeyedAt(place: HostStatus['place'] = {}): { readonly run_id: string | undefined } | undefined {
    const { run_id, at } = place;
    if (run_id !== undefined) return this.#orders.has(run_id) ? { run_id } : undefined;
    if (at !== undefined && this.#orders.has(undefined)) return { run_id: undefined };
    // It is not known where the loop is blocked.
    const run = [...this.#orders.keys()].find((id) => id !== undefined);
    return run === undefined ? undefined : { run_id: run };
  }
}
