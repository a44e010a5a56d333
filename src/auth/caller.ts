/** What a request says of who sends it. */
export interface Caller {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** By lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The key or token of `X-Api-Key`, the one of `Authorization: Bearer`, and the one of the address. */
export interface Credentials {
  readonly key: string | undefined;
  readonly bearer: string | undefined;
  /** `access_token`: where a browser cannot set headers, which is for tokens only. */
  readonly query: string | undefined;
}

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

/** For who sends a `Host` that is none. */
const UNKNOWN_HOST = 'http://localhost/';

/** The same as `authenticate` of the user's own code is given it; without the body, which is not read yet. */
export function requestOf({ method, url, headers }: Caller): Request {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  );
  return new Request(URL.canParse(url) ? url : UNKNOWN_HOST, { method, headers: entries });
}
