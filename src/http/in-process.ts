import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { inject } from 'light-my-request';

/** Origin of a request that did not arrive over a socket. */
export type InternalRequest =
  /** Passed through by the custom app. */
  | { readonly from: FastifyRequest }
  /** A webhook to a custom route; the server's own routes are off limits. */
  | { readonly from?: undefined; readonly custom_routes_only: true };

const internalRequests = new WeakMap<IncomingMessage, InternalRequest>();
const inProcess = new WeakSet<IncomingMessage>();

/** Whether the request originates in this process. */
export function isInProcess(raw: IncomingMessage): boolean {
  const from = internalRequestOf(raw)?.from;
  return from ? isInProcess(from.raw) : inProcess.has(raw);
}

export function internalRequestOf(raw: IncomingMessage): InternalRequest | undefined {
  return internalRequests.get(raw);
}

/** Hop-by-hop headers, meaningless without a connection. */
const CONNECTION_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'date'];
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/** Serves a request without a connection. Response bodies stream as they are written. */
export async function handleInProcess(
  server: FastifyInstance,
  request: Request,
  internalRequest?: InternalRequest,
): Promise<Response> {
  const { method, signal, headers } = request;
  signal.throwIfAborted();
  const { host, pathname, search } = new URL(request.url);
  const payload = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
  let written: ServerResponse | undefined;
  const abort = () => written?.destroy();
  signal.addEventListener('abort', abort, { once: true });

  const answer = await inject(
    (raw, response) => {
      written = response as unknown as ServerResponse;
      // Only on close: until then an abort must still reach the response.
      written.once('close', () => signal.removeEventListener('abort', abort));
      const incoming = raw as unknown as IncomingMessage;
      if (internalRequest) internalRequests.set(incoming, internalRequest);
      inProcess.add(incoming);
      server.routing(incoming, written);
    },
    {
      method: method as 'GET',
      url: pathname + search,
      authority: host,
      headers: Object.fromEntries(headers),
      // The outer connection's address, so that `trust_proxy` applies here too.
      remoteAddress: internalRequest?.from?.raw.socket.remoteAddress ?? '127.0.0.1',
      payloadAsStream: true,
      ...(payload ? { payload } : {}),
    },
  ).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });

  const body = answer.stream();
  body.once('close', abort);
  return new Response(WITHOUT_BODY.has(answer.statusCode) ? null : webStream(body), {
    status: answer.statusCode,
    headers: headersOf(answer.headers),
  });
}

function webStream(body: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(body) as ReadableStream<Uint8Array>;
}

function headersOf(given: Readonly<Record<string, unknown>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (CONNECTION_HEADERS.includes(name)) continue;
    for (const each of [value].flat()) headers.append(name, String(each));
  }
  return headers;
}

/** Globals that the official SDK client reads when it is created without a URL. */
const FETCH_SYMBOL = Symbol.for('langgraph_api:fetch');
const URL_SYMBOL = Symbol.for('langgraph_api:url');

/**
 * Binds `new Client()` in project code to this server, without a connection, until disposed. With several servers in
 * one process, the newest wins.
 */
export function bindInProcessClient(server: FastifyInstance, mount_prefix = ''): Disposable {
  const globals = globalThis as { [FETCH_SYMBOL]?: typeof fetch; [URL_SYMBOL]?: string };
  const inProcessFetch: typeof fetch = (input, init) => handleInProcess(server, new Request(input, init));
  globals[FETCH_SYMBOL] = inProcessFetch;
  globals[URL_SYMBOL] = `http://localhost${mount_prefix}`;
  return {
    [Symbol.dispose]() {
      if (globals[FETCH_SYMBOL] !== inProcessFetch) return;
      delete globals[FETCH_SYMBOL];
      delete globals[URL_SYMBOL];
    },
  };
}
