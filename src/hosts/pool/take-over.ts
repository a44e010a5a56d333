import { LRUCache } from 'lru-cache';
import type { Host } from './host.ts';

/**
 * How long the event loop of a host has been blocked when its waiting runs are taken from it, ms; four times as long for a
 * run that was taken before, and so on. Each repeats its step: runs of graphs that compute and wait in turn would otherwise
 * be taken from one host to the next and never finish one.
 */
const BLOCKED_MS = 1000;
const FACTOR = 4;
/** Runs whose moves are remembered. */
const REMEMBERED_RUNS = 10_000;

/** Takes the runs that wait for a blocked event loop from its host, so that another one continues them. */
export class TakeOvers {
  readonly #moves = new LRUCache<string, number>({ max: REMEMBERED_RUNS });

  /** Takes runs from those of these hosts that are blocked. Call it only while another host would execute them. */
  relieve(hosts: readonly Host[]): void {
    for (const host of hosts) if (host.blocked_ms > 0) this.#relieve(host);
  }

  #relieve(host: Host): void {
    const { blocked_ms, status } = host;
    const { run_id: computing, at } = status?.place ?? {};
    // Any of its runs may be the one that computes: in the next host it would do so again.
    if (computing === undefined && at === undefined) return;
    const waits = (run_id: string) => run_id !== computing && blocked_ms >= this.#limit_ms(run_id);
    for (const run_id of host.takeRuns(waits)) this.#moves.set(run_id, (this.#moves.get(run_id) ?? 0) + 1);
  }

  #limit_ms(run_id: string): number {
    return BLOCKED_MS * FACTOR ** (this.#moves.get(run_id) ?? 0);
  }
}
