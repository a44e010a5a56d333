import { HostLost, Unavailable } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { after } from '../../core/timers.ts';
import type { Host } from './host.ts';
import type { HostPool } from './pool.ts';

/** The hosts that are asked, and where it is logged that one does not answer. */
export interface Asking {
  readonly pool: HostPool;
  readonly logger: Logger;
}

export interface AskLimits {
  /** Time for the answer, ms, waiting for a host included. */
  readonly limit_ms: number;
  /**
   * Only of what may be done twice: silence after which a second host is asked as well, ms. It is also asked if the
   * first ends. Neither, if the call itself is known to block or to end its host: it would do so to all of them.
   */
  readonly repeat_after_ms?: number;
}

/**
 * Limits of handlers for which a client's request waits. Most verify a token, or ask an identity provider, in less than
 * a second, and clients give up after ten or more. After three it is known whether a host is blocked, and by what.
 */
export const HANDLER_LIMITS = { limit_ms: 5_000, repeat_after_ms: 3_000 } as const;

/** Limits of work that takes seconds: an embedding, a bundle. */
export const WORK_LIMITS = { limit_ms: 60_000, repeat_after_ms: 20_000 } as const;

/** Error of a request when no process of the project lives long enough to answer. */
const NO_HOST = 'No graph host could load the project; see the server log.';

/**
 * Has the host with the lowest number call the project's code, so that what its modules remember is in one process.
 * Rejects with the error of that code, and with `Unavailable` if no answer comes. `what` names the code in messages.
 */
export async function askHost<T>(
  { pool, logger }: Asking,
  what: string,
  call: (host: Host) => Promise<T>,
  { limit_ms, repeat_after_ms }: AskLimits,
): Promise<T> {
  const answer = Promise.withResolvers<T>();
  const ended = new AbortController();
  /** Hosts that have not answered yet. */
  const asked = new Set<Host>();
  let left = repeat_after_ms === undefined ? 1 : 2;

  async function ask(host: Host): Promise<void> {
    asked.add(host);
    // A host with open sessions is not replaced.
    const session = host.sessions.open({});
    ended.signal.addEventListener('abort', () => session[Symbol.dispose]());
    try {
      answer.resolve(await untilLost(host, call(host)));
    } catch (error) {
      asked.delete(host);
      if (!(error instanceof HostLost)) return answer.reject(error);
      const { is_outside_runs } = await host.ended;
      if (left > 0 && !is_outside_runs) return askFirst();
      if (asked.size === 0) answer.reject(error);
    }
  }

  async function askFirst(): Promise<void> {
    left -= 1;
    const host = await pool.first(ended.signal).catch((error: unknown) => {
      answer.reject(error instanceof Unavailable ? error : new Unavailable(NO_HOST, { cause: error }));
    });
    if (host) await ask(host);
  }

  using _repeat = after(repeat_after_ms ?? limit_ms, () => {
    const other = pool.firstBeside([...asked]);
    if (!other || left === 0 || [...asked].some((host) => host.isBlockedOutsideRuns)) return;
    left -= 1;
    void ask(other);
  });
  using _limit = after(limit_ms, () => {
    for (const host of asked) host.giveUp();
    const hosts = [...asked].map(({ number }) => number);
    const seconds = limit_ms / 1000;
    logger.warn('a graph host does not respond', { what, hosts, seconds });
    answer.reject(new Unavailable(`${what} did not answer within ${seconds} seconds. Try again later.`));
  });
  void askFirst();
  try {
    return await answer.promise;
  } finally {
    ended.abort();
  }
}

/** Answer of a host. Rejects with `HostLost` if the host ends first. */
export async function untilLost<T>(host: Host, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error === host.peer.failure ? (await host.ended).errorFor(undefined) : error;
  }
}
