import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bindClient } from './sdk-client.ts';

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

/** Address of a request that comes from this machine without a connection. */
export const LOOPBACK = '127.0.0.1';

/** Hop-by-hop headers, meaningless without a connection. */
const CONNECTION_HEADERS = ['connection', 'keep-alive', 'transfer-encoding', 'date'];
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/** A request to this server that has no connection of its own. */
export interface InternalCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: Readable | Buffer | undefined;
  /** Aborts the response too. */
  readonly signal: AbortSignal;
}

/** A response of this server, whose body streams as it is written. */
export interface InternalResponse {
  readonly status: number;
  readonly headers: [name: string, value: string][];
  /** Undefined for a response that cannot have one. */
  readonly body: Readable | undefined;
}

/** Serves a request without a connection. */
export async function handleInternalCall(
  server: FastifyInstance,
  { method, path, host, headers, body: payload, signal }: InternalCall,
  internalRequest?: InternalRequest,
): Promise<InternalResponse> {
  // Imported lazily: many servers never need it.
  const { inject } = await import('light-my-request');
  signal.throwIfAborted();
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
      routeInProcess(server, incoming, written);
    },
    {
      method: method as 'GET',
      url: path,
      authority: host,
      headers,
      // The outer connection's address, so that `trust_proxy` applies here too.
      remoteAddress: internalRequest?.from?.raw.socket.remoteAddress ?? LOOPBACK,
      payloadAsStream: true,
      ...(payload ? { payload } : {}),
    },
  ).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });

  const body = answer.stream();
  body.once('close', abort);
  const isEmpty = method === 'HEAD' || WITHOUT_BODY.has(answer.statusCode);
  return {
    status: answer.statusCode,
    headers: headersOf(answer.headers),
    body: isEmpty ? undefined : body,
  };
}

/** Serves a request that project code made over a private connection, and marks it as in-process. */
export function routeInProcess(
  server: FastifyInstance,
  raw: IncomingMessage,
  response: ServerResponse,
): void {
  inProcess.add(raw);
  server.routing(raw, response);
}

/** `handleInternalCall` in the terms of `fetch`. */
export async function handleInProcess(
  server: FastifyInstance,
  request: Request,
  internalRequest?: InternalRequest,
): Promise<Response> {
  const { method, signal, headers } = request;
  signal.throwIfAborted();
  const { host, pathname, search } = new URL(request.url);
  const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
  const call = { method, path: pathname + search, host, headers: Object.fromEntries(headers), body, signal };
  const answer = await handleInternalCall(server, call, internalRequest);
  return new Response(answer.body ? webStream(answer.body) : null, {
    status: answer.status,
    headers: answer.headers,
  });
}

function webStream(body: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(body) as ReadableStream<Uint8Array>;
}

function headersOf(given: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(given)
    .filter(([name]) => !CONNECTION_HEADERS.includes(name))
    .flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, String(each)]));
}

/** Binds `new Client()` in project code to this server, without a connection, as `bindClient` does. */
export function bindInProcessClient(server: FastifyInstance, mount_prefix = ''): Disposable {
  return bindClient((input, init) => handleInProcess(server, new Request(input, init)), mount_prefix);
}
