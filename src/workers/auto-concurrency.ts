import type { Clock } from '../core/clock.ts';
import { memoryLimit, type ProcessLoad } from '../core/process-load.ts';
import {
  AUTO_CEILING,
  AUTO_FLOOR,
  admissible,
  type LoadNow,
  MAX_LOOK_MS,
  type MemoryUse,
} from './load-limits.ts';

/** Load metrics of the process, for `auto`. */
export interface AutoConcurrencyDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Load of this process since the last call. */
  readonly ownLoad: () => ProcessLoad;
  /**
   * The same for the processes that execute the runs; empty if it is this one. A process that does not answer counts as
   * busy.
   */
  readonly hostLoads: () => Promise<readonly ProcessLoad[]>;
  /** Memory above which a host is replaced, bytes; `undefined`: no limit. */
  readonly max_host_bytes?: number | undefined;
  readonly isDatabaseBusy: () => boolean;
  /** Whether no other live process could take the runs. */
  readonly isAlone: () => Promise<boolean>;
}

/** Runs of the first batch, and of the largest. Each that leaves the event loop idle doubles the next one. */
const FIRST_BATCH = 10;
const MAX_BATCH = 40;
/** Time between two measurements, ms; doubled each time that the process was busy. */
const CHECK_MS = 5;
const MAX_CHECK_MS = 40;
/** A measurement over a longer time does not show what the last runs do, ms. */
const MAX_WINDOW_MS = 500;
/** Time after which a run that has shown no sign of its graph counts as waiting for something, ms. */
const STARTING_MS = 100;
/** Time in which other processes may claim the next runs before one that has enough continues, ms. */
const SHARE_MS = MAX_LOOK_MS + 15;
const CEILING_CHECK_MS = 1000;

/**
 * Admits runs beyond the floor while those that run leave the event loop idle: in small batches, each after all runs of
 * the one before have begun to execute and a measurement since then. Of many runs that compute, only one batch gets in.
 */
export class AutoConcurrency {
  readonly #deps: AutoConcurrencyDeps;
  readonly #memory_limit = memoryLimit();
  /** Runs that have been claimed and whose graph has not begun, with the time until when that matters. */
  readonly #starting = new Map<string, number>();
  #batch = FIRST_BATCH;
  #check_ms = CHECK_MS;
  /** When the next decision is due, monotonic ms; `undefined`: no run waits for one. */
  #due_at: number | undefined;
  #isBusy = false;

  constructor(deps: AutoConcurrencyDeps) {
    this.#deps = deps;
  }

  /** Call when runs wait for a decision. */
  get isAsked(): boolean {
    return this.#due_at !== undefined;
  }

  /** Runs that the process takes, as far as is known: those that it always admits while it is busy. */
  get slots(): number {
    return this.#isBusy ? AUTO_FLOOR : AUTO_CEILING;
  }

  /** Time until the next decision, ms. */
  get wait_ms(): number {
    return Math.max(0, (this.#due_at ?? 0) - this.#deps.clock.monotonic());
  }

  /** Call when a run was claimed. */
  claimed(run_id: string): void {
    this.#starting.set(run_id, this.#deps.clock.monotonic() + STARTING_MS);
  }

  /** Call when its graph executes, or it has ended. */
  begun(run_id: string): void {
    this.#starting.delete(run_id);
  }

  /** Call when no run waits any longer, or when there is room below the floor. */
  rest(): void {
    this.#due_at = undefined;
    this.#isBusy = false;
  }

  /**
   * How many runs may be claimed now in addition to `running`, which are `AUTO_FLOOR` or more; with 0, ask again after
   * `wait_ms`.
   */
  async admit(running: number): Promise<number> {
    const { clock, isAlone } = this.#deps;
    const due_at = this.#due_at;
    const now = clock.monotonic();
    if (due_at === undefined) {
      this.#deps.ownLoad();
      return this.#hold((await isAlone()) ? CHECK_MS : SHARE_MS);
    }
    if (now < due_at) return 0;
    const load = await this.#load(now - due_at);
    if (running >= AUTO_CEILING) return this.#hold(CEILING_CHECK_MS);
    if (!load || this.#isStarting()) return this.#hold(CHECK_MS);
    const admitted = admissible(running, this.#batch, load);
    this.#isBusy = admitted === 0;
    if (this.#isBusy) {
      this.#batch = Math.max(FIRST_BATCH, Math.floor(this.#batch / 2));
      this.#check_ms = Math.min(2 * this.#check_ms, MAX_CHECK_MS);
      return this.#hold(this.#check_ms);
    }
    this.#batch = Math.min(2 * this.#batch, MAX_BATCH);
    this.#check_ms = CHECK_MS;
    this.#due_at = undefined;
    return admitted;
  }

  #hold(ms: number): 0 {
    this.#due_at = this.#deps.clock.monotonic() + ms;
    return 0;
  }

  #isStarting(): boolean {
    const now = this.#deps.clock.monotonic();
    for (const [run_id, until] of this.#starting) if (until <= now) this.#starting.delete(run_id);
    return this.#starting.size > 0;
  }

  /** `undefined`: there was no measurement shortly before. */
  async #load(timer_late_ms: number): Promise<LoadNow | undefined> {
    const { clock, ownLoad, hostLoads, isDatabaseBusy } = this.#deps;
    const own = ownLoad();
    const asked_at = clock.monotonic();
    const hosts = await hostLoads();
    if ([own, ...hosts].some(({ window_ms }) => window_ms > MAX_WINDOW_MS)) return undefined;
    return {
      recent: Math.max(own.recent, mean(hosts.map(({ recent }) => recent))),
      average: Math.max(own.average, mean(hosts.map(({ average }) => average))),
      late_ms: Math.max(timer_late_ms, clock.monotonic() - asked_at),
      memory: this.#memoryOf(own, hosts),
      is_database_busy: isDatabaseBusy(),
    };
  }

  /** All processes share the memory of the container; each has a heap of its own. */
  #memoryOf(own: ProcessLoad, hosts: readonly ProcessLoad[]): MemoryUse[] {
    const all = [own, ...hosts];
    const { max_host_bytes } = this.#deps;
    const used_bytes = all.reduce((sum, { rss_bytes }) => sum + rss_bytes, 0);
    const heaps = all.map((each) => ({ used_bytes: each.heap_bytes, limit_bytes: each.heap_limit_bytes }));
    const limited = max_host_bytes === undefined ? [] : hosts;
    return [
      { used_bytes, limit_bytes: this.#memory_limit },
      ...heaps,
      ...limited.map(({ rss_bytes }) => ({ used_bytes: rss_bytes, limit_bytes: max_host_bytes as number })),
    ];
  }
}

/** Runs are spread evenly: one host of many that computes takes few of them. */
function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
