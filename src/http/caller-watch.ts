import type { FastifyRequest } from 'fastify';
import type { Actor } from '../auth/actor.ts';
import { type Authenticate, credentialsOf } from '../auth/authenticate.ts';
import { ServerError } from '../core/errors.ts';
import { isLastingRefusal } from '../core/failure-class.ts';
import type { Logger } from '../core/logger.ts';
import { every, type Timer } from '../core/timers.ts';
import { callerOf, identityOf, reauthentication } from './plugins/auth.ts';

/** Interval at which callers of open streams and sockets are re-authenticated, ms. */
export const AUTHENTICATE_EVERY_MS = 60_000;

export interface CallerWatch {
  /**
   * Re-authenticates the caller periodically until disposed. Calls `onRefused` once, when the caller loses
   * access.
   */
  watch(request: FastifyRequest, onRefused: (error: ServerError) => void): Disposable;
}

interface Watched {
  readonly onRefused: Set<(error: ServerError) => void>;
  readonly timer: Timer;
}

/** Watches the callers of open streams; streams with the same credential share one check. */
export function callerWatch({
  authenticate,
  authenticate_every_ms = AUTHENTICATE_EVERY_MS,
  logger,
}: {
  readonly authenticate: Authenticate | undefined;
  readonly authenticate_every_ms?: number | undefined;
  readonly logger: Logger;
}): CallerWatch {
  const watched = new Map<unknown, Watched>();

  function begin(credential: unknown, identify: () => Promise<Actor>): Watched {
    const onRefused: Watched['onRefused'] = new Set();
    let isChecking = false;
    async function check(): Promise<void> {
      // Custom authentication may hang.
      if (isChecking) return;
      isChecking = true;
      try {
        await identify();
      } catch (error) {
        if (!(error instanceof ServerError)) logger.error('authentication failed', { error });
        // Other errors are temporary, such as an unavailable database, and say nothing about the caller.
        else if (isLastingRefusal(error)) {
          end(credential, made);
          for (const refuse of onRefused) refuse(error);
        }
      } finally {
        isChecking = false;
      }
    }
    const made: Watched = { onRefused, timer: every(authenticate_every_ms, () => void check()).unref() };
    watched.set(credential, made);
    return made;
  }

  function end(credential: unknown, ended: Watched): void {
    ended.timer[Symbol.dispose]();
    // Another stream may already be watched under the same credential.
    if (watched.get(credential) === ended) watched.delete(credential);
  }

  return {
    watch(request, onRefused) {
      // An open route authenticates no caller.
      if (!authenticate || !identityOf(request)) return { [Symbol.dispose]() {} };
      const credential = credentialOf(request);
      const shared = watched.get(credential) ?? begin(credential, reauthentication(request, authenticate));
      // A new function each time, so that the same callback can be registered twice.
      const refuse = (error: ServerError) => onRefused(error);
      shared.onRefused.add(refuse);
      return {
        [Symbol.dispose]() {
          shared.onRefused.delete(refuse);
          if (shared.onRefused.size === 0) end(credential, shared);
        },
      };
    },
  };
}

/**
 * Equal for requests with the same API key, token or session to routes of one scope. Custom handlers may look at
 * anything in a request, which is then its own credential.
 */
function credentialOf(request: FastifyRequest): unknown {
  const { key, token_key } = request.actor;
  if (key === undefined && token_key === undefined) return request;
  const caller = callerOf(request);
  const scope = request.routeOptions.config.scope;
  return JSON.stringify([scope, caller.headers['cookie'], Object.values(credentialsOf(caller))]);
}
