import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { tryOrUndefined } from '../../../../core/failure.ts';
import { request } from '../../../../core/node-http.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where a build wants to connect to. */
export interface Target {
  /** `https`: by a tunnel, whatever goes through it. */
  readonly scheme: 'http' | 'https';
  readonly hostname: string;
  readonly port: number;
}

/** Returns the proxy that the server must use for a target; `undefined` if it connects directly. */
export type UpstreamProxy = (target: Target) => URL | undefined;

/**
 * The proxies that an environment names, in the variables that curl and git know. `undefined` if one of them cannot be
 * used, such as a SOCKS proxy.
 */
export function upstreamProxy(env: Environment): UpstreamProxy | undefined {
  const value = (name: string) => env[name] || env[name.toUpperCase()] || undefined;
  const http = value('http_proxy') ?? value('all_proxy');
  const https = value('https_proxy') ?? value('all_proxy');
  const proxies = { http: proxyUrl(http), https: proxyUrl(https) };
  if (proxies.http === null || proxies.https === null) return undefined;
  const { http: plain, https: tunnel } = proxies;
  const direct = (value('no_proxy') ?? '').split(/[\s,]+/).filter(Boolean);
  return (target) => {
    if (direct.some((entry) => covers(entry, target))) return undefined;
    return target.scheme === 'http' ? plain : tunnel;
  };
}

/** `null` for a proxy that does not speak HTTP. Curl's default scheme is `http`. */
function proxyUrl(value: string | undefined): URL | null | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse(value.includes('://') ? value : `http://${value}`);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : null;
}

/** An entry of `NO_PROXY`: `*`, a host and those below it, or either with a port. */
function covers(entry: string, { hostname, port }: Target): boolean {
  const [, host = '', of] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (of !== undefined && Number(of) !== port) return false;
  const domain = host.replace(/^\*?\./, '').toLowerCase();
  return domain === '*' || hostname === domain || hostname.endsWith(`.${domain}`);
}

/** Connects to the proxy itself. */
export function connectToProxy({ protocol, hostname, port }: URL): Duplex {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'http:') return connect({ host, port: Number(port || 80) });
  return connectTls({ host, port: Number(port || 443), servername: host });
}

/** The header with the user and password of the proxy's address. */
export function proxyCredentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** As it is if it is not percent-encoded: a password may have a `%`. */
function decoded(text: string): string {
  return tryOrUndefined(() => decodeURIComponent(text)) ?? text;
}

/** Opens a tunnel through the proxy. Rejects if the proxy cannot be reached or refuses. */
export function tunnelThrough(proxy: URL, { hostname, port }: Target, signal: AbortSignal): Promise<Duplex> {
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const authority = `${hostname}:${port}`;
  const asked = request({
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...proxyCredentials(proxy) },
    createConnection: () => connectToProxy(proxy),
    signal,
  });
  asked.once('error', reject);
  asked.once('connect', ({ statusCode }, socket, head) => {
    if (statusCode !== 200) {
      socket.destroy();
      return reject(new Error(`the proxy of the server answered ${statusCode}`));
    }
    if (head.length > 0) socket.unshift(head);
    resolve(socket);
  });
  asked.end();
  return promise;
}
