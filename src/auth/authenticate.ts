import { Unauthorized } from '../core/errors.ts';
import type { Identity, User } from './actor.ts';
import type { KeyRing } from './api-keys.ts';
import type { BrowserTokens } from './browser-tokens.ts';
import { type Caller, type Credentials, credentialsOf } from './caller.ts';

/** Ways of knowing who somebody is. */
export interface AuthenticationParts {
  readonly keys: KeyRing;
  readonly tokens: BrowserTokens;
  /** The user's own handlers. */
  readonly custom?: { authenticate(caller: Caller): Promise<Identity> } | undefined;
  /** Tokens of an identity provider. */
  readonly jwt?: ((token: string) => Promise<Identity>) | undefined;
}

/** Says who sent a request; throws `Unauthorized`, or what the user's own code throws. */
export type Authenticate = (caller: Caller) => Promise<Identity>;

/** Who may act for a user who is away: the same rules as if they were here. */
export type IdentityOf = (user: User | null) => Identity;

/** Our own keys and tokens first, in whichever place they come; then whoever else may know. */
export function authentication({ keys, tokens, custom, jwt }: AuthenticationParts): Authenticate {
  async function ours({ key, bearer, query }: Credentials): Promise<Identity | undefined> {
    for (const credential of [key, bearer]) {
      if (credential === undefined) continue;
      const identity = (await keys.identify(credential)) ?? (await tokens.identify(credential));
      if (identity) return identity;
    }
    return query === undefined ? undefined : tokens.identify(query);
  }

  return async (caller) => {
    const credentials = credentialsOf(caller);
    const { key, bearer, query } = credentials;
    const identity = await ours(credentials);
    if (identity) return identity;
    if (custom) return custom.authenticate(caller);
    if (jwt) {
      const token = bearer ?? query;
      if (token === undefined) throw new Unauthorized('Missing bearer token');
      return jwt(token);
    }
    if (key === undefined && bearer === undefined && query === undefined) {
      throw new Unauthorized('Missing X-Api-Key header');
    }
    throw new Unauthorized('Invalid API key');
  };
}
