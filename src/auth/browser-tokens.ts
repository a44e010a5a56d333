import type { JWTPayload } from 'jose';
import type { Clock } from '../core/clock.ts';
import { Unauthorized } from '../core/errors.ts';
import type { Ids } from '../core/ids.ts';
import { lazy } from '../core/lifecycle.ts';
import type { ServerSecretRepository } from '../storage/access/server-secrets.ts';
import { assistantRule, type HasRunOn, noOwnerRule, ownerRule, threadRule } from './access-rules.ts';
import { type Identity, principalOf } from './actor.ts';
import type { KeyRing } from './api-keys.ts';
import type { Scope } from './scopes.ts';

export interface BrowserTokenDeps {
  readonly secrets: ServerSecretRepository;
  readonly keys: Pick<KeyRing, 'isValid'>;
  readonly hasRunOn: HasRunOn;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** What a token grants; at least one of user, assistant and thread. */
export interface Grant {
  /** Acts as this user, who owns the rows created with it. */
  readonly user?: string | undefined;
  readonly assistant_id?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly scope: Extract<Scope, 'read' | 'run'>;
}

interface Claims extends JWTPayload, Omit<Grant, 'user'> {
  /** Id of the API key that created the token. */
  readonly key: string;
}

/** Imported on first use: loading it takes 25 ms of startup. */
const jose = lazy(() => import('jose'));

/** `kid` in the header, which distinguishes our tokens from others. */
const KEY_ID = 'agent-server';

export type BrowserTokens = ReturnType<typeof browserTokens>;

/** Short-lived signed credentials for web pages, valid only while the API key that created them is. */
export function browserTokens({ secrets, keys, hasRunOn, clock, ids }: BrowserTokenDeps) {
  /** Shared by all processes of a database. */
  const signingSecret = lazy(async () => {
    return new TextEncoder().encode(await secrets.getOrCreate('browser tokens', ids.secret()));
  });

  return {
    /** `expires_at`: Unix time, s. */
    async issue(key: string, { user, ...limits }: Grant, expires_at: number): Promise<string> {
      const { SignJWT } = await jose();
      return new SignJWT({ ...limits, key, ...(user === undefined ? {} : { sub: user }) })
        .setProtectedHeader({ alg: 'HS256', kid: KEY_ID })
        .setIssuedAt(Math.floor(clock.now() / 1000))
        .setExpirationTime(expires_at)
        .sign(await signingSecret());
    },

    /** Returns `undefined` if it is not one of our tokens. Throws `Unauthorized` for an invalid or expired one. */
    async identify(credential: string): Promise<Identity | undefined> {
      if (!(await isOurs(credential))) return undefined;
      const { jwtVerify } = await jose();
      const options = { algorithms: ['HS256'], currentDate: new Date(clock.now()) };
      const verified = await jwtVerify<Claims>(credential, await signingSecret(), options).catch(
        (error: unknown) => {
          throw new Unauthorized('This token is invalid or has expired', { cause: error });
        },
      );
      const claims = verified.payload;
      if (await keys.isValid(claims.key)) return identityOf(claims, hasRunOn);
      throw new Unauthorized('The key that created this token is no longer valid');
    },
  };
}

async function isOurs(credential: string): Promise<boolean> {
  if (!credential.startsWith('ey')) return false;
  const { decodeProtectedHeader } = await jose();
  try {
    return decodeProtectedHeader(credential).kid === KEY_ID;
  } catch {
    return false;
  }
}

function identityOf({ sub, assistant_id, thread_id, scope, key }: Claims, hasRunOn: HasRunOn): Identity {
  const rules = [
    sub === undefined ? noOwnerRule() : ownerRule(sub),
    assistant_id === undefined ? undefined : assistantRule(assistant_id),
    thread_id === undefined ? undefined : threadRule(thread_id, assistant_id !== undefined, hasRunOn),
  ].filter((rule) => rule !== undefined);
  return {
    user: sub === undefined ? null : { identity: sub, permissions: [] },
    scope,
    rules,
    principal:
      sub === undefined ? principalOf('token', key, assistant_id, thread_id) : principalOf('user', sub),
    token_key: key,
  };
}
