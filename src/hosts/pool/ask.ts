import { HostLost, Unavailable } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { after, every } from '../../core/timers.ts';
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
   * It may be done twice: a second host is asked as well if a run blocks the first, and if the first ends. Not if the call
   * may itself be what blocks it, or is known to have ended it: it would do so to the second one too.
   */
  readonly is_repeatable?: true;
}

/**
 * Limits of handlers for which a client's request waits. Most verify a token, or ask an identity provider, in less than
 * a second, and clients give up after ten or more.
 */
export const HANDLER_LIMITS = { limit_ms: 5_000, is_repeatable: true } as const;

/** Limits of work that takes seconds: an embedding, a bundle. */
export const WORK_LIMITS = { limit_ms: 60_000, is_repeatable: true } as const;

/** Interval at which it is seen whether a host is blocked meanwhile, ms. */
const CHECK_MS = 500;

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
  { limit_ms, is_repeatable }: AskLimits,
): Promise<T> {
  const answer = Promise.withResolvers<T>();
  const ended = new AbortController();
  /** Hosts that have not answered yet. */
  const asked = new Set<Host>();
  let left = is_repeatable ? 2 : 1;

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

  using _repeat = every(CHECK_MS, () => {
    if (left === 0 || ![...asked].some((host) => host.isBlockedByRun)) return;
    const other = pool.firstBeside([...asked]);
    if (!other || other.blocked_ms > 0) return;
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
