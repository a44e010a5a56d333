import { createHash, createHmac } from 'node:crypto';
import type { JWTPayload } from 'jose';
import type { Identity, User } from '../../auth/actor.ts';
import { type Authenticate, type Caller, credentialsOf } from '../../auth/authenticate.ts';
import { scopeIncludes } from '../../auth/scopes.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { Forbidden, Unauthorized } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import { lazy } from '../../core/lifecycle.ts';
import type { ServerSecretRepository } from '../../storage/access/server-secrets.ts';

export interface StudioSessionDeps {
  readonly secrets: ServerSecretRepository;
  readonly identityForUser: (user: User | null) => Identity;
  /** Whether the project has handlers that authenticate. */
  readonly has_handlers: boolean;
  /** Whether sessions are read-only. */
  readonly read_only: boolean;
  /** URL of a run in a tracing tool, with `{trace_id}`. */
  readonly trace_url?: string | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
}

/**
 * The content of a session. The credential is validated with each request, so revoking it ends its sessions.
 */
export interface StudioGrant {
  readonly credential: string;
  /** Header that carries the credential. */
  readonly kind: 'key' | 'token';
  /** User whose view an administrator has taken. */
  readonly view_as?: string | undefined;
  /** The same for every view of one session. */
  readonly session_id: string;
}

/** A grant with its expiry, Unix time in s. */
type OpenSession = StudioGrant & { readonly expires_at: number };

interface Claims extends JWTPayload, StudioGrant {}

/** Imported on first use: loading it takes 25 ms of startup. */
const jose = lazy(() => import('jose'));

/** Of a cookie that only this host can have set, over HTTPS: neither a subdomain nor a page without TLS. */
export const HOST_PREFIX = '__Host-';

/** Methods that change nothing by themselves. */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export type StudioSessions = ReturnType<typeof studioSessions>;

/**
 * Sessions of Studio in a browser: the credential, encrypted in a cookie that scripts cannot read. Every process of a
 * database accepts the cookie. Stored are only the sessions that were signed out of: a copy of the cookie is refused then.
 */
export function studioSessions(deps: StudioSessionDeps) {
  const { secrets, identityForUser, has_handlers, read_only, trace_url = null, clock, ids } = deps;
  const digest = lazy(async () => {
    const secret = await secrets.getOrCreate('studio sessions', ids.secret());
    return createHash('sha256').update(secret).digest();
  });

  /**
   * Cookies ignore ports, so each database has its own cookie name: two servers on one machine do not sign each
   * other out.
   */
  const cookieName = lazy(async () => `agent_server_${(await digest()).toString('hex').slice(0, 8)}`);

  /** Returns `undefined` without a session, and for an expired or revoked one, or one of another server. */
  async function read(caller: Caller): Promise<OpenSession | undefined> {
    const { cookie } = caller.headers;
    if (typeof cookie !== 'string' || !cookie.includes('agent_server_')) return undefined;
    const name = await cookieName();
    const value = cookieNamed(`${HOST_PREFIX}${name}`, cookie) ?? cookieNamed(name, cookie);
    if (value === undefined) return undefined;
    const { jwtDecrypt } = await jose();
    const options = { currentDate: new Date(clock.now()) };
    const opened = await jwtDecrypt<Claims>(value, await digest(), options).catch(() => undefined);
    if (!opened) return undefined;
    const { credential, kind, view_as, session_id, exp = 0 } = opened.payload;
    if (typeof session_id !== 'string' || (await secrets.isSessionRevoked(session_id))) return undefined;
    return { credential, kind, view_as, session_id, expires_at: exp };
  }

  /** The identity that a session has now. Throws as `authenticate` does. */
  async function identify(
    authenticate: Authenticate,
    caller: Caller,
    { credential, kind, view_as }: Omit<StudioGrant, 'session_id'>,
  ): Promise<Identity> {
    const { cookie: _cookie, ...others } = caller.headers;
    const own = kind === 'key' ? { 'x-api-key': credential } : { authorization: `Bearer ${credential}` };
    const identity = await authenticate({ ...caller, headers: { ...others, ...own } });
    const seen = view_as === undefined ? identity : viewOf(view_as, identity);
    // A scope that does not include reading stays as it is.
    return read_only && scopeIncludes(seen.scope, 'read') ? { ...seen, scope: 'read' } : seen;
  }

  return {
    read_only,
    trace_url,
    cookieName,
    read,
    identify,

    /** Opaque id that is the same for all sessions of one user, API key or kind of browser token. */
    async callerId({ principal }: Identity): Promise<string> {
      return createHmac('sha256', await digest())
        .update(principal)
        .digest('base64url');
    },

    /** `expires_at`: Unix time, s. */
    async encrypt(grant: StudioGrant, expires_at: number): Promise<string> {
      const { EncryptJWT } = await jose();
      return new EncryptJWT({ ...grant })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setExpirationTime(expires_at)
        .encrypt(await digest());
    },

    /** Signs out: no copy of the cookie is valid any more. `until_s`: no view of the session is valid longer, Unix time. */
    revoke: ({ session_id }: OpenSession, until_s: number): Promise<void> =>
      secrets.revokeSession(session_id, timestamp(until_s * 1000)),

    /** Adds sessions to `authenticate`; a request with a credential of its own does not use its session. */
    authenticating(authenticate: Authenticate): Authenticate {
      return async (caller) => {
        const grant = hasCredential(caller, has_handlers) ? undefined : await read(caller);
        if (!grant) return authenticate(caller);
        if (!isOfThisServer(caller)) return authenticateForeign(authenticate, caller);
        return identify(authenticate, caller, grant);
      };
    },
  };

  function viewOf(user: string, identity: Identity): Identity {
    if (!isUnlimited(identity))
      throw new Unauthorized('This session may no longer use view_as: sign in again');
    return { ...identityForUser({ identity: user, permissions: [] }), key: identity.key };
  }
}

/** Whether the caller may use `view_as`: an administrator without access rules. */
export function isUnlimited({ scope, rules }: Identity): boolean {
  return scopeIncludes(scope, 'admin') && rules.length === 0;
}

/**
 * Any `Authorization` header is left to the project's handlers. Without them, `Basic` is not meant for the server: browsers
 * repeat the password that a proxy in front of it requires.
 */
function hasCredential(caller: Caller, has_handlers: boolean): boolean {
  const { 'x-api-key': key, authorization } = caller.headers;
  const isOwn = authorization !== undefined && (has_handlers || !/^basic /i.test(String(authorization)));
  return key !== undefined || isOwn || credentialsOf(caller).query !== undefined;
}

/**
 * Authenticates without the session, because the project's handlers may know the caller by their own cookie.
 * Throws `Forbidden` instead of `Unauthorized`.
 */
async function authenticateForeign(authenticate: Authenticate, caller: Caller): Promise<Identity> {
  return authenticate(caller).catch((error: unknown) => {
    throw error instanceof Unauthorized ? foreign() : error;
  });
}

/**
 * Whether a page of this server has sent the request (CSRF): a browser sends the cookie with any request to
 * this server. Requires proof for requests with an effect; behind a proxy that changes `Host`, `Sec-Fetch-Site`
 * is the proof. It is `none` for an address that the user has entered.
 */
function isOfThisServer(caller: Caller): boolean {
  const { origin, 'sec-fetch-site': site } = caller.headers;
  const isProven = origin !== undefined || site === 'same-origin' || site === 'none' || !hasEffect(caller);
  return isProven && !isForeign(caller);
}

/**
 * A GET with `cancel_on_disconnect` has an effect: a page could cancel the run by dropping an image. So may any route of
 * the project.
 */
function hasEffect({ method, url, is_custom_route = false }: Caller): boolean {
  if (is_custom_route || !SAFE_METHODS.has(method)) return true;
  return URL.parse(url)?.searchParams.has('cancel_on_disconnect') !== false;
}

/** Throws `Forbidden` for a page of another origin. */
export function refuseForeignOrigin(caller: Caller): void {
  if (isForeign(caller)) throw foreign();
}

/**
 * Whether a page of another origin has sent the request; programs send no origin. Browsers also send the cookie
 * for pages on another port of this host, and omit `Origin` for their images and frames. Over plain HTTP in a
 * network they omit `Sec-Fetch-Site`, too.
 */
function isForeign({ headers, url }: Caller): boolean {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin') return false;
  if (site === 'same-site' || site === 'cross-site') return true;
  if (origin === undefined) return false;
  return typeof origin !== 'string' || URL.parse(origin)?.host !== URL.parse(url)?.host;
}

function foreign(): Forbidden {
  return new Forbidden('A Studio session is valid only for pages of this server. Send an API key instead.');
}

function cookieNamed(name: string, header: string): string | undefined {
  const prefix = `${name}=`;
  const found = header.split(';').find((part) => part.trimStart().startsWith(prefix));
  return found?.trimStart().slice(prefix.length);
}
