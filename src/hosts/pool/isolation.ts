import type { Logger } from '../../core/logger.ts';
import { unlessAborted } from '../../core/timers.ts';
import type { Host } from './host.ts';

/** How many hosts a run may end, or be one of those that may have, before it executes in one of its own. */
const SHARED_LOSSES = 2;

/** A host for one run; disposing ends it. */
export interface OwnHost extends AsyncDisposable {
  readonly host: Host;
}

/**
 * A host that fills its memory may end without a word, and any of its runs may be the cause. Those that have lost two hosts
 * execute one after the other, each in a host of its own: the cause ends, and the others do.
 */
export class Isolation {
  /** Runs whose own host is not ready. */
  readonly #queued = new Set<string>();
  readonly #spawn: () => Host;
  readonly #logger: Logger;
  /** Resolves when the last run that asked for a host of its own has ended. */
  #last: Promise<void> = Promise.resolve();

  /** `spawn`: starts a host that takes no other work. It may throw. */
  constructor(spawn: () => Host, logger: Logger) {
    this.#spawn = spawn;
    this.#logger = logger;
  }

  /** Whether a run waits for its turn, or for its own host to start. */
  isWaiting(run_id: string): boolean {
    return this.#queued.has(run_id);
  }

  /**
   * The host of its own that a run needs, once it is its turn; `undefined` if it needs none, or none can be started.
   * Rejects with the reason of `signal`.
   */
  async enter(run_id: string, host_losses: number, signal: AbortSignal): Promise<OwnHost | undefined> {
    if (host_losses < SHARED_LOSSES) return undefined;
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = before.then(() => turn.promise);
    let host: Host | undefined;
    const leave = async () => {
      turn.resolve();
      await host?.stop('its only run has ended');
    };
    this.#queued.add(run_id);
    try {
      await unlessAborted(signal, before);
      host = this.#spawn();
      this.#report(host, run_id);
      await unlessAborted(signal, host.ready);
      return { host, [Symbol.asyncDispose]: leave };
    } catch (error) {
      await leave();
      signal.throwIfAborted();
      this.#logger.warn('a run could not be given a graph host of its own', { run_id, error });
      return undefined;
    } finally {
      this.#queued.delete(run_id);
    }
  }

  #report(host: Host, run_id: string): void {
    const fields = { host: host.number, pid: host.pid };
    this.#logger.info('a run that lost two graph hosts continues in one of its own', { ...fields, run_id });
    void host.ended.then(({ is_intended, reason, run }) => {
      if (!is_intended) this.#logger.error('a graph host ended', { ...fields, reason, ...run });
    });
  }
}
