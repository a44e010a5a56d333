import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import { Forbidden, ServerError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import type { AccessEvent, Identity, Rule, User } from './actor.ts';
import { type Caller, requestOf } from './authenticate.ts';
import { parseFilter } from './filters.ts';

type Handler = (request: object) => unknown;

/** Handlers of an `Auth` (`@langchain/langgraph-sdk/auth`); duck-typed, as projects have their own copy. */
interface Handlers {
  readonly authenticate: (request: Request) => unknown;
  readonly callbacks: Readonly<Record<string, Handler | undefined>>;
}

export interface CustomAuthOptions {
  readonly cache?: CacheOptions | undefined;
  /** Accepts callers that claim to be LangGraph Studio, as its own user (CONTRACT §10). */
  readonly studio: boolean;
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

const STUDIO_USER: User = {
  kind: 'StudioUser',
  identity: 'langgraph-studio-user',
  display_name: 'langgraph-studio-user',
  permissions: [],
  is_authenticated: true,
};

/** Custom LangGraph auth handlers (CONTRACT §10). Throws if the export is not an `Auth`. */
export function customAuth(exported: unknown, { cache, studio }: CustomAuthOptions, clock: Clock) {
  const handlers = handlersOf(exported);
  const cached = identityCache(cache, clock);

  async function authenticate(caller: Caller): Promise<Identity> {
    if (studio && caller.headers['x-auth-scheme'] === 'langsmith') return identityOf(STUDIO_USER);
    return identityOf(userOf(await callHandler(() => handlers.authenticate(requestOf(caller)))));
  }

  function identityOf(user: User): Identity {
    return { user, scope: 'admin', rules: [ruleOf(handlers, user)], principal: user.identity };
  }

  return {
    authenticate: (caller: Caller): Promise<Identity> => cached(caller, authenticate),
    /** Identity for work without a request, such as a cron's run. */
    identityOf,
  };
}

function handlersOf(exported: unknown): Handlers {
  const cache =
    isObject(exported) || typeof exported === 'function' ? Reflect.get(exported, '~handlerCache') : undefined;
  if (!isObject(cache)) throw new Error("it is not an Auth of '@langchain/langgraph-sdk/auth'");
  const { authenticate, callbacks = {} } = cache;
  if (typeof authenticate !== 'function')
    throw new Error('it has no authenticate handler, so every request would be rejected');
  return { authenticate, callbacks } as Handlers;
}

/** Only the most specific handler is called (CONTRACT §10). */
function ruleOf({ callbacks }: Handlers, user: User): Rule {
  return async (event, value) => {
    const [resource, action] = event.split(':');
    const handler = keysOf(event)
      .map((key) => callbacks[key])
      .find((each) => each !== undefined);
    if (!handler) return undefined;
    const { permissions } = user;
    const context = { event, resource, action, value, permissions, user };
    const result = await callHandler(() => handler(context));
    if (result === undefined || result === null || result === true) return undefined;
    if (result === false) throw new Forbidden('Forbidden');
    return { metadata: parseFilter(result) };
  };
}

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

async function callHandler(handle: () => unknown): Promise<unknown> {
  try {
    return await handle();
  } catch (error) {
    throw httpExceptionOf(error) ?? error;
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

/** The `auth.cache` block (CONTRACT §10). */
export interface CacheOptions {
  /** Names of the headers that identify a caller. */
  readonly cache_keys: readonly string[];
  readonly ttl_seconds: number;
  readonly max_size: number;
}

type Authenticate = (caller: Caller) => Promise<Identity>;

/** Caches identities by header values. Bypassed if none of the headers is set; failures are not cached. */
function identityCache(options: CacheOptions | undefined, clock: Clock) {
  if (!options) return (caller: Caller, authenticate: Authenticate) => authenticate(caller);
  const names = options.cache_keys.map((name) => name.toLowerCase());
  const cache = new LRUCache<string, { identity: Identity; until: number }>({ max: options.max_size });

  return async (caller: Caller, authenticate: Authenticate): Promise<Identity> => {
    const values = names.map((name) => caller.headers[name] ?? null);
    if (values.every((value) => value === null)) return authenticate(caller);
    const key = JSON.stringify(values);
    const cachedEntry = cache.get(key);
    if (cachedEntry && cachedEntry.until > clock.monotonic()) return cachedEntry.identity;
    const identity = await authenticate(caller);
    cache.set(key, { identity, until: clock.monotonic() + options.ttl_seconds * 1000 });
    return identity;
  };
}
