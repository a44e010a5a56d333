import type { HostedRun, HostStatus } from '../protocol/watch.ts';

interface Order {
  /** `undefined`: of code that belongs to no run. */
  readonly run: HostedRun | undefined;
  /** Answers of the watch since. */
  answers: number;
  /** Turns of the event loop, from the second answer. */
  turns: number;
}

/**
 * Orders to stop that code in a host did not obey in time. Each lasts until the event loop of the host is known to have
 * turned after it: code that blocks the loop never heard of its order, however short it has blocked so far.
 */
export class StopOrders {
  /** By run; `undefined` is code that belongs to no run. */
  readonly #orders = new Map<string | undefined, Order>();

  add(run: HostedRun | undefined): void {
    this.#orders.set(run?.run_id, { run, answers: 0, turns: 0 });
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

  /** The order that the code at `place` disobeys; `undefined` if it may block the event loop. */
  disobeyedAt(place: HostStatus['place'] = {}): Pick<Order, 'run'> | undefined {
    const { run_id, at } = place;
    if (run_id !== undefined) return this.#orders.get(run_id);
    if (at !== undefined && this.#orders.has(undefined)) return this.#orders.get(undefined);
    // It is not known where the loop is blocked.
    return [...this.#orders.values()].find(({ run }) => run !== undefined);
  }
}
