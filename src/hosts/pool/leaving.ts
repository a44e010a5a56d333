import type { Logger } from '../../core/logger.ts';
import { after } from '../../core/timers.ts';
import type { Host } from './host.ts';

/** How long a host that is being replaced may wait for the last checkpoint of its runs, ms. */
const HAND_OVER_MS = 60_000;
/**
 * The same for one whose code has changed, ms: a developer who edits a node that hangs waits for the new code. Most calls of a
 * model end in this time, and are not repeated.
 */
const SUPERSEDED_MS = 10_000;
/** How long a host may take to send its traces, ms. */
export const DRAIN_MS = 4000;

interface Leaving {
  readonly reason: string;
  readonly charges_runs?: boolean;
  /** How long it may wait for checkpoints. */
  readonly within_ms?: number;
}

/** Hosts that take no more work, until they have ended. */
export class LeavingHosts {
  readonly #hosts = new Set<Host>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get all(): readonly Host[] {
    return [...this.#hosts];
  }

  /** One that is not in use yet: its end is that of no other host. */
  add(host: Host): void {
    this.#hosts.add(host);
  }

  delete(host: Host): void {
    this.#hosts.delete(host);
  }

  /** Replaces a host above its memory limit: a run that makes no checkpoint in time would make none in any host. */
  replaceLarge(host: Host): void {
    this.#replace(host, { reason: 'it uses more memory than hosts.max_memory_mb', charges_runs: true });
  }

  /** Replaces a host whose code has changed since it loaded it. */
  supersede(host: Host): void {
    this.#replace(host, { reason: 'the project has changed', within_ms: SUPERSEDED_MS });
  }

  endIdle(host: Host): void {
    this.#logger.info('ending an idle graph host', { host: host.number, pid: host.pid });
    this.#end(host, { reason: 'it is idle' });
  }

  /** Its runs continue elsewhere. */
  #replace(host: Host, leaving: Leaving): void {
    const { reason } = leaving;
    this.#logger.info('replacing a graph host', { host: host.number, pid: host.pid, reason });
    this.#end(host, leaving);
  }

  #end(host: Host, { reason, charges_runs = false, within_ms = HAND_OVER_MS }: Leaving): void {
    host.drain();
    this.#hosts.add(host);
    const stop = (isLate: boolean) => {
      deadline[Symbol.dispose]();
      void host.stop(reason, DRAIN_MS, isLate && charges_runs);
    };
    const deadline = after(within_ms, () => stop(true)).unref();
    host.sessions.whenEmpty(() => stop(false));
  }
}
