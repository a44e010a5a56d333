import { domainOf } from '../services/webhooks/webhook-url.ts';

export interface SlotLimits {
  /** Concurrent deliveries, in total and per host: an unresponsive host must not cause head-of-line blocking. */
  readonly concurrency: number;
  readonly concurrency_per_host: number;
}

/** Limit of the responsive hosts that are remembered; a forgotten one counts as untried. */
const MAX_RESPONSIVE = 10_000;

/**
 * Which hosts may have another delivery in flight. One that did not respond to its last try gets one at a time. Those and
 * hosts that this process has not tried share half of the slots, and of these the hosts of one domain half again: there
 * can be any number of names that never respond, and they must not delay receivers that do.
 */
export class DeliverySlots {
  readonly #limits: SlotLimits;
  #active = 0;
  readonly #activeByHost = new Map<string, number>();
  /** Deliveries that began when their host was not known to respond; in total and by domain. */
  #uncertain = 0;
  readonly #uncertainByDomain = new Map<string, number>();
  /** By the last try of this process. */
  readonly #responsive = new Set<string>();
  readonly #unresponsive = new Set<string>();

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** How many more deliveries to this host may begin; 0 or less if none. */
  free(host: string): number {
    const { concurrency, concurrency_per_host } = this.#limits;
    const ofHost =
      (this.#unresponsive.has(host) ? 1 : concurrency_per_host) - (this.#activeByHost.get(host) ?? 0);
    const free = Math.min(ofHost, concurrency - this.#active);
    if (free <= 0 || this.#responsive.has(host)) return free;
    const uncertain = atLeastOne(concurrency / 2) - this.#uncertain;
    if (uncertain <= 0) return 0;
    const ofDomain = atLeastOne(concurrency / 4) - (this.#uncertainByDomain.get(domainOf(host)) ?? 0);
    return Math.min(free, uncertain, ofDomain);
  }

  /** Occupies a slot until it is disposed. */
  take(host: string): Disposable {
    const domain = this.#responsive.has(host) ? undefined : domainOf(host);
    const change = (by: 1 | -1) => {
      this.#active += by;
      add(this.#activeByHost, host, by);
      if (domain === undefined) return;
      this.#uncertain += by;
      add(this.#uncertainByDomain, domain, by);
    };
    change(1);
    return { [Symbol.dispose]: () => change(-1) };
  }

  /** The end of a try: whether the host responded, with whatever status. */
  tried(host: string, hasResponded: boolean): void {
    this.#responsive.delete(host);
    if (!hasResponded) {
      this.#unresponsive.add(host);
      return;
    }
    this.#unresponsive.delete(host);
    this.#responsive.add(host);
    const [oldest] = this.#responsive;
    if (this.#responsive.size > MAX_RESPONSIVE && oldest !== undefined) this.#responsive.delete(oldest);
  }

  /** Forgets unresponsive hosts that no longer have deliveries. */
  prune(waiting: ReadonlySet<string>): void {
    for (const host of this.#unresponsive) if (!waiting.has(host)) this.#unresponsive.delete(host);
  }
}

function atLeastOne(share: number): number {
  return Math.max(1, Math.floor(share));
}

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
