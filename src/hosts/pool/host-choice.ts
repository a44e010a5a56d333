import { LRUCache } from 'lru-cache';
import type { Host } from './host.ts';

/** Properties of work that decide its host. */
export interface Work {
  /** The thread's next run prefers the same host: modules of the project may remember something about it. */
  readonly thread_id?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A host to avoid. */
  readonly except?: Host | undefined;
}

/** Threads whose last host is remembered. */
const REMEMBERED_THREADS = 10_000;
/** How much busier than another the preferred host may be, in runs. */
const MAX_PREFERENCE = 2;

/** Chooses hosts for work, and remembers the last one of each thread and that of the project's app. */
export class HostChoice {
  readonly #lastHost = new LRUCache<string, number>({ max: REMEMBERED_THREADS });
  #appHost: Host | undefined;

  /**
   * The thread's last host, or the one with the fewest runs; none whose event loop is blocked. A request of the project's
   * app counts only among hosts with as many runs: most of them wait for a run, or stream it.
   */
  find(available: readonly Host[], { thread_id = '', except }: Work): Host | undefined {
    const free = available.filter((host) => host.blocked_ms === 0 && host !== except);
    const [least] = free.toSorted(({ sessions: a }, { sessions: b }) => a.runs - b.runs || a.size - b.size);
    const last = free.find(({ number }) => number === this.#lastHost.get(thread_id));
    const isBusier = last && least && last.sessions.runs > least.sessions.runs + MAX_PREFERENCE;
    const chosen = isBusier ? least : (last ?? least);
    if (chosen && thread_id !== '') this.#lastHost.set(thread_id, chosen.number);
    return chosen;
  }

  /** The host that serves the project's app: the same until it ends, then the first that serves it. */
  forApp(available: readonly Host[]): Host | undefined {
    if (this.#appHost?.isAvailable) return this.#appHost;
    this.#appHost = available.find(({ servesApp }) => servesApp);
    return this.#appHost ?? available[0];
  }

  isForApp(host: Host): boolean {
    return host === this.#appHost;
  }
}
