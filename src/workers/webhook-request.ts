import type { LookupFunction } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { lazy } from '../core/lifecycle.ts';
import { after } from '../core/timers.ts';
import type { ResolveHost, WebhookPolicy } from '../services/webhooks/webhook-policy.ts';
import { storedHeaders } from './webhook-answer.ts';

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookResponse {
  readonly status: number;
  /** Raw header value: seconds or a date. */
  readonly retry_after: string | undefined;
  /** Target of a redirect. */
  readonly redirect: string | undefined;
  /** Why the redirect was not followed. */
  readonly not_followed?: string;
  /** As `storedHeaders` returns them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Beginning of the response body. */
  readonly text: string;
}

/**
 * Posts once. Throws `WebhookRefused` for an address that must not be called, and rethrows network errors. Aborting
 * ends the request immediately.
 */
export type PostWebhook = (request: WebhookRequest, signal: AbortSignal) => Promise<WebhookResponse>;

/** The request exceeded its total time-out. */
class WebhookTimeout extends Error {
  readonly code = 'no answer in time';
}

/** The policy forbids the address, or what its host resolves to. */
export class WebhookRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'WebhookRefused';
  }
}

export interface SenderOptions {
  readonly policy: WebhookPolicy;
  readonly resolve: ResolveHost;
  /** From the first byte to the last, redirects included. */
  readonly timeout_ms: number;
  /** Connections per receiver. */
  readonly connections: number;
  /** Posts in process to a route of the custom app: for an address that is only a path. */
  readonly postToApp?: PostWebhook;
}

/** Longest time to look up a receiver and to connect to it, ms. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Limit of the response body that is read: the rest is not needed and may be endless. */
const MAX_BODY_BYTES = 1024;
/** Follows at most 3 redirects. */
const MAX_REDIRECTS = 3;

/** SSRF guard: applies the policy to the resolved addresses of each connection, whatever a name resolved to before. */
export function webhookSender(options: SenderOptions): { readonly post: PostWebhook } & AsyncDisposable {
  const { policy, timeout_ms, postToApp = noCustomApp } = options;
  const agent = lazy(() => openAgent(options));

  return {
    async post(request, signal) {
      // Loaded before the timer starts: import time does not count against the receiver.
      const dispatcher = request.url.startsWith('/') ? undefined : await agent();
      const timeout = new AbortController();
      using _timer = after(timeout_ms, () => timeout.abort(new WebhookTimeout()));
      const combined = AbortSignal.any([signal, timeout.signal]);
      if (!dispatcher) return await postToApp(request, combined);
      return await postFollowing(dispatcher, request, { policy, signal: combined });
    },
    async [Symbol.asyncDispose]() {
      await (await agent.made)?.destroy();
    },
  };
}

/** Loaded with the first webhook: most servers send none, and `undici` costs 30 MB and 0.1 s at the start. */
async function openAgent(options: SenderOptions): Promise<Agent> {
  const { timeout_ms, connections } = options;
  const { Agent } = await import('undici');
  return new Agent({
    connect: { lookup: policyLookup(options), timeout: connectTimeout(options) },
    connections,
    allowH2: false,
    headersTimeout: timeout_ms,
    bodyTimeout: timeout_ms,
  });
}

function connectTimeout({ timeout_ms }: SenderOptions): number {
  return Math.min(CONNECT_TIMEOUT_MS, timeout_ms);
}

/** Without a custom app the policy refuses paths: only a webhook accepted earlier gets here. */
const noCustomApp: PostWebhook = async () => {
  throw new WebhookRefused('The server no longer has custom routes');
};

/** Passes only permitted addresses to `connect`: a name may change between check and connection (DNS rebinding). */
function policyLookup(options: SenderOptions): LookupFunction {
  const { policy, resolve } = options;
  return (hostname, { all }, callback) => {
    resolve(hostname, connectTimeout(options)).then(
      (addresses) => {
        const allowed = addresses
          .filter((address) => policy.blockedReason(hostname, address) === undefined)
          .map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        const [first] = allowed;
        if (first === undefined) {
          const reason = policy.blockedReason(hostname, addresses[0] ?? '') ?? 'The host name has no address';
          callback(new WebhookRefused(reason), '', 0);
        } else if (all) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };
}

async function postFollowing(
  dispatcher: Dispatcher,
  request: WebhookRequest,
  { policy, signal }: { readonly policy: WebhookPolicy; readonly signal: AbortSignal },
): Promise<WebhookResponse> {
  let { url } = request;
  for (let redirects = 0; ; redirects++) {
    // A literal address bypasses `lookup`.
    policy.checkSyntax(url);
    const answer = await postOnce(dispatcher, { ...request, url }, signal);
    if (answer.redirect === undefined) return answer;
    const not_followed =
      refusedRedirect(answer.status, url, answer.redirect) ??
      (redirects < MAX_REDIRECTS ? undefined : `more than ${MAX_REDIRECTS} redirects`);
    if (not_followed !== undefined) return { ...answer, not_followed };
    url = new URL(answer.redirect, url).href;
  }
}

async function postOnce(
  dispatcher: Dispatcher,
  { url, headers, body }: WebhookRequest,
  signal: AbortSignal,
): Promise<WebhookResponse> {
  const { origin, pathname, search, username, password } = new URL(url);
  const answer = await dispatcher.request({
    origin,
    path: pathname + search,
    method: 'POST',
    headers: { ...(username && { authorization: basicAuth(username, password) }), ...headers },
    body,
    signal,
  });
  const { statusCode: status } = answer;
  return {
    status,
    retry_after: firstHeader(answer.headers['retry-after']),
    redirect: status >= 300 && status < 400 ? firstHeader(answer.headers['location']) : undefined,
    headers: storedHeaders(Object.entries(answer.headers)),
    text: await readBodyPrefix(answer.body),
  };
}

/** Basic authentication from the URL's userinfo, as browsers send it. */
function basicAuth(username: string, password: string): string {
  return `Basic ${Buffer.from(`${decodeUserinfo(username)}:${decodeUserinfo(password)}`).toString('base64')}`;
}

function decodeUserinfo(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function firstHeader(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** The status decides: a truncated or endless body does not change the outcome. */
async function readBodyPrefix(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MAX_BODY_BYTES) break;
    }
  } catch {
    // A partial body is enough.
  }
  return Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8');
}

/**
 * Why a redirect is not followed: only as a POST (307, 308), to the same host and port, or from http to https on default
 * ports. The signed body must not reach other services of the host.
 */
function refusedRedirect(status: number, url: string, target: string): string | undefined {
  if (status !== 307 && status !== 308) return 'only redirects with 307 or 308 are followed';
  if (!URL.canParse(target, url)) return 'the address of the redirect is invalid';
  const [from, to] = [new URL(url), new URL(target, url)];
  const isSame = to.protocol === from.protocol && to.port === from.port;
  const isUpgrade =
    from.protocol === 'http:' && to.protocol === 'https:' && from.port === '' && to.port === '';
  if (to.hostname !== from.hostname) return 'redirects to another host are not followed';
  return isSame || isUpgrade ? undefined : 'redirects to another port or scheme are not followed';
}
