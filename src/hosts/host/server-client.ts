import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { Agent, request as httpRequest } from '../../core/node-http.ts';
import { contextHeader, MAX_HEADER_BYTES, type ServerRequestContext } from '../protocol/http.ts';

export interface ServerCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** Sent as it comes. */
  readonly body?: Readable | Buffer | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly context?: Omit<ServerRequestContext, 'token'>;
}

/** Sends a request to the server. Rejects if it cannot be reached, and with the signal's reason. */
export type ServerClient = (call: ServerCall) => Promise<IncomingMessage>;

/** Requests over the private socket of the server. */
export function serverClient(socketPath: string, token: string): ServerClient {
  const agent = new Agent({ keepAlive: true });
  return ({ method, path, headers, body, signal, context = {} }) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const all = { ...headers, ...contextHeader({ ...context, token }) };
      const outgoing = httpRequest({
        ...{ socketPath, agent, method, path, headers: all },
        maxHeaderSize: MAX_HEADER_BYTES,
      });
      const abort = () => outgoing.destroy(signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
      outgoing
        .once('response', resolve)
        .on('error', reject)
        .once('close', () => signal?.removeEventListener('abort', abort));
      if (!(body instanceof Readable)) return outgoing.end(body);
      body.once('error', (error) => outgoing.destroy(error)).pipe(outgoing);
    });
}

/** `fetch` for the project's code: to the server, whatever the origin of the URL. Redirects are not followed. */
export function fetchFromServer(client: ServerClient): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { method, signal } = request;
    const { pathname, search, host } = new URL(request.url);
    const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
    const headers: OutgoingHttpHeaders = { host, ...Object.fromEntries(request.headers) };
    if (body) headers['content-length'] = body.length;
    return webResponse(await client({ method, path: pathname + search, headers, body, signal }), method);
  };
}

const WITHOUT_BODY = new Set([204, 205, 304]);

function webResponse(incoming: IncomingMessage, method: string): Response {
  const status = incoming.statusCode as number;
  const isEmpty = method === 'HEAD' || WITHOUT_BODY.has(status);
  if (isEmpty) incoming.resume();
  return new Response(isEmpty ? null : webStream(incoming), {
    status,
    headers: Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  });
}

export function webStream(
  stream: Readable,
): ReadableStream<Uint8Array> & globalThis.ReadableStream<Uint8Array<ArrayBuffer>> {
  return Readable.toWeb(stream) as never;
}
