import type { JWTPayload } from 'jose';
import type { Clock } from '../core/clock.ts';
import { Unauthorized } from '../core/errors.ts';
import type { Ids } from '../core/ids.ts';
import { lazy } from '../core/lifecycle.ts';
import type { ServerSecretRepository } from '../storage/access/server-secrets.ts';
import { assistantRule, type HasRunOn, noOwnerRule, ownerRule, threadRule } from './access-rules.ts';
import type { Identity } from './actor.ts';
import type { KeyRing } from './api-keys.ts';
import type { Scope } from './scopes.ts';

export interface BrowserTokenDeps {
  readonly secrets: ServerSecretRepository;
  readonly keys: Pick<KeyRing, 'isValid'>;
  readonly hasRunOn: HasRunOn;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** What a token is good for; at least one of the three. */
export interface Grant {
  /** Acts as this user, who owns what is made with it. */
  readonly user?: string | undefined;
  readonly assistant_id?: string | undefined;
  readonly thread_id?: string | undefined;
  readonly scope: Exclude<Scope, 'admin'>;
}

interface Claims extends JWTPayload, Omit<Grant, 'user'> {
  /** The key that it was made with. */
  readonly key: string;
}

/** With the first token: until then nothing needs it, and it takes a fortieth of a second of the start. */
const jose = lazy(() => import('jose'));

/** In the header of each, so that tokens of others are not taken for ours. */
const KEY_ID = 'agent-server';

export type BrowserTokens = ReturnType<typeof browserTokens>;

/** Short-lived credentials that may be given to a web page: signed, and good for as long as the key that made them. */
export function browserTokens({ secrets, keys, hasRunOn, clock, ids }: BrowserTokenDeps) {
  /** The same for all processes of a database. */
  const signingSecret = lazy(async () => {
    return new TextEncoder().encode(await secrets.getOrCreate('browser tokens', ids.secret()));
  });

  return {
    /** `expires_at` in seconds since 1970. */
    async issue(key: string, { user, ...limits }: Grant, expires_at: number): Promise<string> {
      const { SignJWT } = await jose();
      return new SignJWT({ ...limits, key, ...(user === undefined ? {} : { sub: user }) })
        .setProtectedHeader({ alg: 'HS256', kid: KEY_ID })
        .setIssuedAt(Math.floor(clock.now() / 1000))
        .setExpirationTime(expires_at)
        .sign(await signingSecret());
    },

    /** Undefined for what is no token of ours. Throws `Unauthorized` for one that is no longer good. */
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

function identityOf({ sub, assistant_id, thread_id, scope }: Claims, hasRunOn: HasRunOn): Identity {
  const rules = [
    sub === undefined ? noOwnerRule() : ownerRule(sub),
    assistant_id === undefined ? undefined : assistantRule(assistant_id),
    thread_id === undefined ? undefined : threadRule(thread_id, assistant_id !== undefined, hasRunOn),
  ].filter((rule) => rule !== undefined);
  return {
    user: sub === undefined ? null : { identity: sub, permissions: [] },
    scope,
    rules,
    principal: sub ?? `token ${assistant_id} ${thread_id}`,
  };
}
