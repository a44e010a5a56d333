import type { Identity } from '../../auth/actor.ts';
import type { Authenticate, Caller } from '../../auth/authenticate.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { Forbidden, InvalidInput, ServerError } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import type { Logger } from '../../core/logger.ts';
import type { StudioSession, StudioSessionCreate } from './schemas.ts';
import { isUnlimited, refuseForeignOrigin, type StudioGrant, type StudioSessions } from './sessions.ts';

export interface StudioDeps {
  readonly sessions: StudioSessions;
  /** Undefined without authentication. */
  readonly authenticate: Authenticate | undefined;
  readonly has_users: boolean;
  /** Bytes of the largest request. */
  readonly body_limit: number;
  /** Of all costs. */
  readonly currency: string;
  /** Names of the extensions that are on. */
  readonly extensions: readonly string[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
}

/** A session and the cookie that holds it; an empty one makes the browser forget it. */
export interface SessionResult {
  readonly session: StudioSession;
  readonly cookie: { readonly name: string; readonly value: string; readonly max_age: number };
}

/** Lifetime of a session, seconds: 12 hours. */
const SESSION_SECONDS = 12 * 60 * 60;
/** Browsers silently drop larger cookies, bytes. */
const MAX_COOKIE_BYTES = 4_000;

export type StudioService = ReturnType<typeof studioService>;

/**
 * Signs people in to Studio: in the browser, a session stands in for the key or token that it was created with.
 */
export function studioService(deps: StudioDeps) {
  const { sessions, authenticate, clock, ids, logger } = deps;
  const closed = closedSession(deps);

  return {
    /** The session in the caller's cookie. A credential that is no longer valid counts as signed out. */
    async current(caller: Caller): Promise<StudioSession> {
      const grant = authenticate && (await sessions.read(caller));
      if (!grant) return closed;
      try {
        const identity = await sessions.identify(authenticate, caller, grant);
        const own =
          grant.view_as === undefined
            ? identity
            : await sessions.identify(authenticate, caller, { ...grant, view_as: undefined });
        return await describe(identity, own, grant, grant.expires_at);
      } catch (error) {
        if (error instanceof ServerError && error.status < 500) return closed;
        throw error;
      }
    },

    /**
     * Creates a session, or changes the view of the current one. Throws `Unauthorized` for a wrong credential,
     * `Forbidden` for a request from another origin, and for `view_as` by restricted callers.
     */
    async begin(caller: Caller, { key, token, view_as }: StudioSessionCreate): Promise<SessionResult> {
      refuseForeignOrigin(caller);
      if (!authenticate) throw new InvalidInput('This server has no authentication: no session is needed.');
      const present = await sessions.read(caller);
      const begun = grantOf(key, token, ids) ?? present;
      if (!begun) throw new Forbidden('view_as needs a session: sign in with an admin key first.');
      const { credential, kind, session_id } = begun;
      const own: StudioGrant = { credential, kind, session_id };
      const identity = await sessions.identify(authenticate, caller, own);
      const grant: StudioGrant = view_as == null ? own : { ...own, view_as };
      if (view_as != null) requireAdministrator(identity, view_as, logger);
      const now_s = Math.floor(clock.now() / 1000);
      const expires_at = begun === present ? present.expires_at : now_s + SESSION_SECONDS;
      const value = await sessions.encrypt(grant, expires_at);
      if (value.length > MAX_COOKIE_BYTES) {
        throw new InvalidInput('The token is too long for a session. Use a shorter one, or an API key.');
      }
      const effective = view_as == null ? identity : await sessions.identify(authenticate, caller, grant);
      const cookie = { name: await sessions.cookieName(), value, max_age: expires_at - now_s };
      return { session: await describe(effective, identity, grant, expires_at), cookie };
    },

    /** Ends the session, also for those who have a copy of its cookie. */
    async end(caller: Caller): Promise<SessionResult> {
      refuseForeignOrigin(caller);
      const present = authenticate && (await sessions.read(caller));
      if (present) await sessions.revoke(present, Math.floor(clock.now() / 1000) + SESSION_SECONDS);
      return { session: closed, cookie: { name: await sessions.cookieName(), value: '', max_age: 0 } };
    },
  };

  async function describe(
    identity: Identity,
    own: Identity,
    { view_as }: StudioGrant,
    expires_at: number,
  ): Promise<StudioSession> {
    return {
      ...closed,
      signed_in: true,
      scope: identity.scope,
      user: identity.user?.identity ?? null,
      unrestricted: identity.rules.length === 0,
      viewing_as: view_as ?? null,
      trace_url: sessions.trace_url,
      expires_at: timestamp(expires_at * 1000),
      caller: await sessions.callerId(own),
    };
  }
}

function closedSession({
  sessions,
  authenticate,
  has_users,
  extensions,
  currency,
  body_limit,
}: StudioDeps): StudioSession {
  return {
    signed_in: authenticate === undefined,
    authentication: authenticate !== undefined,
    accepts_tokens: has_users,
    scope: authenticate ? null : 'admin',
    user: null,
    unrestricted: authenticate === undefined,
    viewing_as: null,
    read_only: sessions.read_only,
    trace_url: authenticate ? null : sessions.trace_url,
    extensions: [...extensions],
    currency,
    body_limit,
    expires_at: null,
    caller: null,
  };
}

function requireAdministrator(identity: Identity, user: string, logger: Logger): void {
  if (!isUnlimited(identity)) {
    throw new Forbidden('Only unrestricted callers may use view_as: sign in with an admin key.');
  }
  logger.info('Studio shows the view of a user', { user, by_key: identity.key });
}

function grantOf(key: string | undefined, token: string | undefined, ids: Ids): StudioGrant | undefined {
  const session_id = ids.uuid4();
  if (key !== undefined) return { credential: key, kind: 'key', session_id };
  return token === undefined ? undefined : { credential: token, kind: 'token', session_id };
}
