import { Unauthorized } from '../core/errors.ts';
import type { Identity } from './actor.ts';
import type { KeyRing } from './api-keys.ts';
import type { BrowserTokens } from './browser-tokens.ts';

/** Authentication methods. */
export interface Authenticators {
  readonly keys: KeyRing;
  readonly tokens: BrowserTokens;
  /** Custom handlers of the project. */
  readonly custom?: { authenticate(caller: Caller): Promise<Identity> } | undefined;
  /** JWTs of an identity provider. */
  readonly jwt?: ((token: string) => Promise<Identity>) | undefined;
}

/** Authenticates a request; throws `Unauthorized`, or what custom handlers throw. */
export type Authenticate = (caller: Caller) => Promise<Identity>;

/** Tries API keys and browser tokens first, wherever they are sent; then custom handlers or JWT. */
export function authentication({ keys, tokens, custom, jwt }: Authenticators): Authenticate {
  async function identifyOwn({ key, bearer, query }: Credentials): Promise<Identity | undefined> {
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
    const identity = await identifyOwn(credentials);
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

/** The parts of a request used for authentication. */
export interface Caller {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** Keys in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The server has no such route; the project's app may have one. */
  readonly is_custom_route?: boolean;
}

/** Credentials in `X-Api-Key`, in `Authorization: Bearer`, and in the query string. */
export interface Credentials {
  readonly key: string | undefined;
  readonly bearer: string | undefined;
  /** `access_token`, for tokens only: browsers cannot set headers everywhere. */
  readonly query: string | undefined;
}

/** Extracts the credentials of a request; an absent one is `undefined`. */
export function credentialsOf({ method, headers, url }: Caller): Credentials {
  const authorization = headers['authorization'];
  const bearer = typeof authorization === 'string' ? /^bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
  const key = headers['x-api-key'];
  return {
    key: typeof key === 'string' ? key : undefined,
    bearer,
    query: method === 'GET' && url.includes('access_token=') ? queryToken(url) : undefined,
  };
}

function queryToken(url: string): string | undefined {
  return URL.parse(url)?.searchParams.get('access_token') ?? undefined;
}

/** Fallback for an invalid `Host` header. */
const UNKNOWN_HOST = 'http://localhost/';

/** The `Request` passed to a custom `authenticate`; without the body, which is not read yet. */
export function requestOf({ method, url, headers }: Caller): Request {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  );
  return new Request(URL.canParse(url) ? url : UNKNOWN_HOST, { method, headers: entries });
}
