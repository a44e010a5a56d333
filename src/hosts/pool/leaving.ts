import type { Logger } from '../../core/logger.ts';
import { after } from '../../core/timers.ts';
import type { Host } from './host.ts';

/** How long a host that is being replaced may wait for the last checkpoint of its runs, ms. */
const HAND_OVER_MS = 60_000;
/**
 * The same for one whose code has changed, ms: who edits a node that hangs waits for the new one. Most calls of a model end
 * within it, so that they are not repeated.
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

  /** Its runs continue elsewhere. `charges_runs`: one that makes no checkpoint in time would make none in any host. */
  replace(host: Host, reason: string, charges_runs = false): void {
    this.#logger.info('replacing a graph host', { host: host.number, pid: host.pid, reason });
    this.#end(host, { reason, charges_runs });
  }

  /** The same for one that has loaded code which has changed since. */
  supersede(host: Host): void {
    const reason = 'the project has changed';
    this.#logger.info('replacing a graph host', { host: host.number, pid: host.pid, reason });
    this.#end(host, { reason, within_ms: SUPERSEDED_MS });
  }

  endIdle(host: Host): void {
    this.#logger.info('ending an idle graph host', { host: host.number, pid: host.pid });
    this.#end(host, { reason: 'it is idle' });
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
