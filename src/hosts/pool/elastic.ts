import type { Clock } from '../../core/clock.ts';
import type { Host } from './host.ts';

/** How many hosts there are. `least` at any time; up to `most` while those there are have no time for other runs. */
export interface HostCount {
  readonly least: number;
  readonly most: number;
}

/**
 * How long an event loop has not turned before another host is started, ms. Half of what counts as blocked: a host that
 * starts meanwhile is soon ready for the runs that wait there.
 */
const LATE_MS = 500;
/** Share of its time from which on an event loop that executes several runs is too busy for another. */
const BUSY_SHARE = 0.9;
/** Checks in a row that find all hosts busy before another one is started: they are a second apart. */
const BUSY_CHECKS = 2;
/** How long a host above the least number stays without work, ms. */
const IDLE_MS = 60_000;

interface Use {
  /** Runs that it had been given. */
  readonly runs: number;
  /** Monotonic, ms. */
  readonly at: number;
}

/** Decides when a pool needs another host, and which one it no longer needs. */
export class Elasticity {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When each host was last seen with work. */
  readonly #uses = new WeakMap<Host, Use>();
  #busyChecks = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether the event loops of all these hosts are held up: none would begin a run now. */
  areHeldUp(hosts: readonly Host[]): boolean {
    return hosts.every(({ blocked_ms, status }) => blocked_ms > 0 || (status?.late_ms ?? 0) >= LATE_MS);
  }

  /** Whether all these hosts have been computing for several runs. Called once a second. */
  async areBusy(hosts: readonly Host[]): Promise<boolean> {
    const isShared = hosts.length > 0 && hosts.every(({ sessions }) => sessions.runs >= 2);
    const loads = isShared ? await Promise.all(hosts.map((host) => host.load())) : [];
    const isBusy = isShared && loads.every(({ recent }) => recent >= BUSY_SHARE);
    this.#busyChecks = isBusy ? this.#busyChecks + 1 : 0;
    return this.#busyChecks >= BUSY_CHECKS;
  }

  /** Those of these hosts that have had no work for long. Called once a second. */
  idle(hosts: readonly Host[]): Host[] {
    const now = this.#clock.monotonic();
    return hosts.filter((host) => {
      const { runs, sessions } = host;
      const last = this.#uses.get(host);
      const isUsed = last === undefined || last.runs !== runs || sessions.size > 0;
      if (isUsed) this.#uses.set(host, { runs, at: now });
      return !isUsed && now - last.at >= IDLE_MS;
    });
  }
}
