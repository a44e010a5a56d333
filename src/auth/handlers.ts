import { ServerError, Unavailable } from '../core/errors.ts';
import { toError } from '../core/failure.ts';
import { isObject } from '../core/json.ts';
import { DeadlineExceeded, withDeadline } from '../core/timers.ts';
import type { MetadataFilter } from '../db/metadata-filter.ts';
import type { AccessEvent, User } from './actor.ts';
import { type Caller, requestOf } from './authenticate.ts';
import { parseFilter } from './filters.ts';

/**
 * The project's auth handlers (contract §10), in this process or in another. Both methods reject with a `ServerError`
 * if a handler throws an `HTTPException` or never answers, and with the handler's own error otherwise, a 500 for the
 * client.
 */
export interface AuthHandlers {
  authenticate(caller: Caller): Promise<User>;
  /**
   * Calls the most specific handler of the event. Resolves to whether it allows the event, or to the rows for which it
   * does; true if there is no handler. May modify `value`, in place.
   */
  authorize(
    event: AccessEvent,
    value: Record<string, unknown>,
    user: User,
  ): Promise<MetadataFilter | boolean>;
}

type Handler = (request: object) => unknown;

/** What an `Auth` holds (`@langchain/langgraph-sdk/auth`); duck-typed, as projects have their own copy. */
interface Registered {
  readonly authenticate: (request: Request) => unknown;
  readonly callbacks: Readonly<Record<string, Handler | undefined>>;
}

/** Longer than clients wait; without a timeout, abandoned requests would pile up. */
const LIMIT_MS = 60_000;

/** The handlers of an `Auth` in this process. Throws if the export is not an `Auth`. `limit_ms`: for each answer. */
export function authHandlers(exported: unknown, limit_ms = LIMIT_MS): AuthHandlers {
  const { authenticate, callbacks } = registeredIn(exported);
  const callHandler = (handle: () => unknown) => answerOf(handle, limit_ms);
  return {
    authenticate: async (caller) => userOf(await callHandler(() => authenticate(requestOf(caller)))),

    /** Answers become plain data here: as JSON, `{owner: undefined}` would be a filter that matches every row. */
    async authorize(event, value, user) {
      const [resource, action] = event.split(':');
      const handler = keysOf(event)
        .map((key) => callbacks[key])
        .find((each) => each !== undefined);
      if (!handler) return true;
      const { permissions } = user;
      const context = { event, resource, action, value, permissions, user };
      const result = await callHandler(() => handler(context));
      if (result === undefined || result === null) return true;
      return typeof result === 'boolean' ? result : parseFilter(result);
    },
  };
}

function registeredIn(exported: unknown): Registered {
  const cache =
    isObject(exported) || typeof exported === 'function' ? Reflect.get(exported, '~handlerCache') : undefined;
  if (!isObject(cache)) throw new Error("it is not an Auth of '@langchain/langgraph-sdk/auth'");
  const { authenticate, callbacks = {} } = cache;
  if (typeof authenticate !== 'function')
    throw new Error('it has no authenticate handler, so every request would be rejected');
  return { authenticate, callbacks } as Registered;
}

/** Only the most specific handler is called (contract §10). */
function keysOf(event: AccessEvent): string[] {
  const [resource, action] = event.split(':') as [string, string];
  return [event, resource, `*:${action}`, '*'];
}

function userOf(answer: unknown): User {
  if (typeof answer === 'string') return userOf({ identity: answer });
  if (!isObject(answer) || typeof answer['identity'] !== 'string') {
    throw new Error('authenticate returned neither a string nor an object with an identity');
  }
  const { identity, permissions } = answer;
  return {
    is_authenticated: true,
    display_name: identity,
    ...answer,
    identity: identity as string,
    permissions: Array.isArray(permissions) ? permissions : [],
  };
}

/** An `HTTPException` thrown by a custom handler to reject a request. */
class HandlerException extends ServerError {
  readonly status: number;
  override readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, detail: string, headers: Readonly<Record<string, string>>) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}

/** Rejects with an error whatever is thrown: Fastify would send a `Response` instead of a 500. */
async function answerOf(handle: () => unknown, limit_ms: number): Promise<unknown> {
  try {
    return await withDeadline(limit_ms, (async () => handle())());
  } catch (error) {
    if (error instanceof DeadlineExceeded) {
      throw new Unavailable(
        `An auth handler did not answer within ${limit_ms / 1000} seconds. Try again later.`,
      );
    }
    throw httpExceptionOf(error) ?? toError(error);
  }
}

function httpExceptionOf(error: unknown): HandlerException | undefined {
  if (!(error instanceof Error || isObject(error))) return undefined;
  const { status, message, headers } = error as { status?: unknown; message?: unknown; headers?: unknown };
  if (!Number.isInteger(status) || (status as number) < 400 || (status as number) > 599) return undefined;
  const entries =
    isObject(headers) || headers instanceof Headers ? new Headers(headers as Record<string, string>) : [];
  return new HandlerException(status as number, String(message ?? ''), Object.fromEntries(entries));
}
