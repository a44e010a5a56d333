import type { ClientRequest, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { HostLost, Unavailable } from '../../core/errors.ts';
import { Agent, request as httpRequest } from '../../core/node-http.ts';
import type { RemoteApp, RemoteRequest, RemoteResponse } from '../../http/custom-app/remote-app.ts';
import { fromWireError } from '../protocol/errors.ts';
import { AppAnswer, answerOf, contextHeader, endToEndHeaders, MAX_HEADER_BYTES } from '../protocol/http.ts';
import type { Exchange } from './exchanges.ts';
import { MAX_BLOCKED_MS, watchLoop } from './loop-watch.ts';
import type { HostPool } from './pool.ts';

/**
 * The project's app in the hosts of a pool. One of them serves it as long as it lives, so that the state of its modules
 * is that of one process. Waits for the first host; throws if the app failed to load there.
 */
export async function hostedApp(pool: HostPool, max_blocked_ms = MAX_BLOCKED_MS): Promise<RemoteApp> {
  const { app } = await pool.listing;
  if (!app) throw new Error('the graph host did not load it');
  if ('error' in app) throw fromWireError(app.error);
  const agent = new Agent({ keepAlive: true });

  async function send(request: RemoteRequest): Promise<RemoteResponse> {
    const { signal, method } = request;
    const host = await pool.takeForApp(signal);
    if (!host.servesApp)
      throw new Unavailable('http.app failed to load in the graph host; see the server log.');
    signal.throwIfAborted();
    const exchange = pool.exchanges.open(request);
    const outgoing = httpRequest({
      ...{ socketPath: host.appSocket, agent, method, path: request.path, setHost: false },
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: {
        ...endToEndHeaders(request.headers),
        ...framing(request),
        ...contextOf(request, exchange, pool),
      },
    });
    // A host that is being replaced stays until its last request has ended.
    const session = host.sessions.open({});
    outgoing.once('close', () => session[Symbol.dispose]());
    const incoming = await responseTo(outgoing, request, (signal) => watchLoop(host, max_blocked_ms, signal));
    const answer = answerOf(AppAnswer, incoming);
    // Only the server and its host know the name of the exchange.
    if (answer?.exchange !== exchange.id) return ownResponse(incoming, method);
    incoming.resume();
    if ('error' in answer)
      throw Object.assign(fromWireError(answer.error), { statusCode: answer.status_code });
    const { status, headers, body } = answer.forwarded;
    return {
      status,
      headers: grouped(headers),
      body: body === undefined ? undefined : exchange.takeBody(body),
    };
  }

  return { ...app, send, close: async () => agent.destroy() };
}

function contextOf(request: RemoteRequest, { id: exchange }: Exchange, { sockets: { token } }: HostPool) {
  const { origin, has_server_route, remote_address, auth } = request;
  return contextHeader({
    token,
    exchange,
    origin,
    has_server_route,
    remote_address,
    ...(auth && { auth: { user: auth.user, scopes: [...auth.scopes] } }),
  });
}

/** A body whose length is unknown. */
function framing({ body, headers }: RemoteRequest): Record<string, string> {
  return body && headers['content-length'] === undefined ? { 'transfer-encoding': 'chunked' } : {};
}

/** Sends the body, and resolves with the head of the response. */
async function responseTo(
  outgoing: ClientRequest,
  { body, signal }: RemoteRequest,
  watch: (signal: AbortSignal) => Promise<void>,
): Promise<IncomingMessage> {
  const { promise: head, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const abort = () => outgoing.destroy();
  signal.addEventListener('abort', abort, { once: true });
  outgoing.once('response', resolve);
  outgoing.on('error', () => reject(lost()));
  outgoing.once('close', () => {
    signal.removeEventListener('abort', abort);
    // The rest is not read, but the client must be able to read the response.
    body?.unpipe(outgoing).resume();
  });
  if (body) {
    body.once('error', (error) => {
      reject(error);
      outgoing.destroy();
    });
    body.pipe(outgoing);
  } else {
    outgoing.end();
  }
  const hasBegun = new AbortController();
  try {
    return await Promise.race([head, watch(hasBegun.signal).then(() => head)]);
  } catch (error) {
    outgoing.destroy();
    throw error;
  } finally {
    hasBegun.abort();
  }
}

function lost(): HostLost {
  return new HostLost('The graph host that serves custom routes has ended. Try again later.');
}

const WITHOUT_BODY = new Set([204, 304]);

function ownResponse(incoming: IncomingMessage, method: string): RemoteResponse {
  const status = incoming.statusCode as number;
  const isEmpty = method === 'HEAD' || WITHOUT_BODY.has(status);
  if (isEmpty) incoming.resume();
  return {
    status,
    status_text: incoming.statusMessage,
    headers: singled(endToEndHeaders(incoming.headersDistinct)),
    body: isEmpty ? undefined : bodyOf(incoming),
    trailers: () => incoming.trailers,
  };
}

/** The body; it fails with `HostLost` if the host ends before it does. */
function bodyOf(incoming: IncomingMessage): Readable {
  const body = new Readable({
    read: () => void incoming.resume(),
    destroy(error, done) {
      incoming.destroy();
      done(error);
    },
  });
  incoming
    .on('data', (chunk: Buffer) => body.push(chunk) || incoming.pause())
    .once('end', () => body.push(null))
    .once('error', () => body.destroy(lost()));
  // The body may fail before anyone reads it.
  return body.on('error', () => {});
}

function singled(headers: NodeJS.Dict<string[]>): Record<string, string | string[]> {
  const entries = Object.entries(headers).map(([name, values = []]) => [
    name,
    values.length === 1 ? (values[0] as string) : values,
  ]);
  return Object.fromEntries(entries);
}

function grouped(headers: readonly (readonly [string, string])[]): Record<string, string | string[]> {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of headers) lists[name] = [...(lists[name] ?? []), value];
  return singled(lists);
}
