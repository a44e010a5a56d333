import { once } from 'node:events';
import { Worker as Thread } from 'node:worker_threads';
import { threadMonotonic } from '../core/clock.ts';
import { programFile } from '../core/package-files.ts';
import { after, every, sleep, type Timer } from '../core/timers.ts';
import type { Worker } from '../storage/queue/workers.ts';
import { HeartbeatMemory } from './heartbeat-memory.ts';
import { heartbeatMs, type LeaseOptions, type WorkerLease } from './lease.ts';

export interface ThreadLeaseOptions extends LeaseOptions {
  readonly url: string;
  /** As `storage.password_command`. */
  readonly password_command?: string | undefined;
  /** How long the event loop may be blocked before the lease is given up, ms: a frozen process must not hold runs. */
  readonly max_stall_ms: number;
  /** Descriptor through which graph hosts know the lease. */
  readonly lease_fd?: number | undefined;
  /** Set if heartbeats search for what dead processes hold: called when one finds any. */
  readonly onLostWork?: (() => void) | undefined;
}

export interface HeartbeatThreadData {
  readonly url: string;
  readonly password_command: string | undefined;
  readonly worker: Worker;
  readonly lease_ms: number;
  readonly max_stall_ms: number;
  readonly shared: SharedArrayBuffer;
  readonly lease_fd: number | undefined;
  readonly searches: boolean;
}

/** Why the thread did not renew the lease, or that dead processes hold work. */
export type HeartbeatReport =
  | { readonly error: string }
  | { readonly stalled_ms: number }
  | { readonly has_lost_work: true };

const PROGRAM = programFile('workers/heartbeat-thread');

/** What is left of the lease when its runs must stop: time for them to reach the end of a step. */
export const LEASE_MARGIN = 0.1;
/** Interval at which the event loop shows that it turns, per heartbeat. */
const TURNS_PER_BEAT = 5;
/** How long a search counts, in heartbeats: until the next one is late. */
const SEARCH_BEATS = 1.25;
/** How long the thread may take to end, ms; a query to a database that is away takes longer. */
const STOP_MS = 1000;
const RESTART_MS = 1000;

/** Renews from a thread, which a node that blocks the event loop cannot hold up (engine §2). */
export function threadLease(options: ThreadLeaseOptions): WorkerLease {
  return new ThreadLease(options);
}

class ThreadLease implements WorkerLease {
  readonly #options: ThreadLeaseOptions;
  readonly #memory = new HeartbeatMemory();
  #thread: Thread | undefined;
  #turns: Timer | undefined;
  #isStopped = false;

  constructor(options: ThreadLeaseOptions) {
    this.#options = options;
  }

  get lapses(): number {
    return this.#memory.lapses;
  }

  get late_renewals(): number {
    return this.#memory.late_renewals;
  }

  start(): void {
    const { lease_ms } = this.#options;
    this.#memory.held_until = threadMonotonic() + lease_ms;
    this.#memory.beat();
    this.#turn();
    this.#turns = every(heartbeatMs(lease_ms) / TURNS_PER_BEAT, () => this.#turn()).unref();
    this.#startThread();
  }

  isHeld(): boolean {
    const { lease_ms } = this.#options;
    return threadMonotonic() < this.#memory.held_until - lease_ms * LEASE_MARGIN;
  }

  isBeating(): boolean {
    // A renewal waits for at most its timeout.
    return threadMonotonic() - this.#memory.beat_at < 3 * this.#options.lease_ms;
  }

  nothingLostFor(): number {
    const until = this.#memory.nothing_lost_at + SEARCH_BEATS * heartbeatMs(this.#options.lease_ms);
    return this.#memory.nothing_lost_at === 0 ? 0 : Math.max(0, until - threadMonotonic());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#turns?.[Symbol.dispose]();
    const thread = this.#thread;
    if (!thread) return;
    const exited = once(thread, 'exit');
    thread.postMessage('end');
    const late = new AbortController();
    await Promise.race([exited, sleep(STOP_MS, late.signal).then(() => thread.terminate())]);
    late.abort();
  }

  #turn(): void {
    this.#memory.slots = this.#options.slots();
    this.#memory.turn();
  }

  #startThread(): void {
    const { url, password_command, worker, lease_ms, max_stall_ms, lease_fd, onLostWork, logger } =
      this.#options;
    const shared = this.#memory.buffer;
    const workerData: HeartbeatThreadData = {
      url,
      password_command,
      worker,
      lease_ms,
      max_stall_ms,
      shared,
      lease_fd,
      searches: onLostWork !== undefined,
    };
    const thread = new Thread(PROGRAM, { workerData });
    this.#thread = thread;
    thread.unref();
    thread.on('message', (report: HeartbeatReport) => {
      if ('has_lost_work' in report) onLostWork?.();
      else if ('error' in report)
        logger.warn('the lease of this process could not be renewed', { ...report });
      else
        logger.error('the event loop was blocked for too long: other processes take over its runs', {
          ...report,
        });
    });
    thread.on('error', (error) => logger.error('the heartbeat failed, restarting it', { error }));
    thread.on('exit', () => {
      this.#thread = undefined;
      if (!this.#isStopped) after(RESTART_MS, () => !this.#isStopped && this.#startThread()).unref();
    });
  }
}
