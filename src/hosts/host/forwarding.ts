import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import {
  type AppRequestContext,
  answerOf,
  endToEndHeaders,
  ForwardAnswer,
  type ForwardedResponse,
} from '../protocol/http.ts';
import type { ServerClient } from './server-client.ts';

/** Requests that the app forwards to the server's own routes. */
export interface Forwarding {
  /**
   * Forwards a request of an exchange. Resolves with the response's head: its body stays at the server, so that a stream
   * which the app only passes on depends neither on this process nor on its event loop.
   */
  send(exchange: string, call: ForwardedCall): Promise<ForwardedResponse>;
  /** The body of such a response. */
  open(exchange: string, body: number): Promise<IncomingMessage>;
}

export interface ForwardedCall {
  readonly method: string;
  /** Path and query, without the mount prefix. */
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Readable | Buffer | undefined;
  readonly signal?: AbortSignal;
}

export function forwarding(client: ServerClient): Forwarding {
  return {
    async send(exchange, { headers: given, body, ...call }) {
      const headers: OutgoingHttpHeaders = endToEndHeaders(given);
      // The app may have changed the body, and left the length as it was.
      delete headers['content-length'];
      if (body) headers['transfer-encoding'] = 'chunked';
      const incoming = await client({ ...call, headers, body, context: { exchange } });
      incoming.resume();
      const answer = answerOf(ForwardAnswer, incoming);
      if (!answer)
        throw new Error(`The server refused a forwarded request with status ${incoming.statusCode}.`);
      return answer.forwarded;
    },
    open: (exchange, body) => client({ method: 'GET', path: '/', headers: {}, context: { exchange, body } }),
  };
}

/** Forwarded responses in the terms of `fetch`. */
export interface FetchForwarding {
  send(request: Request): Promise<Response>;
  /** Number of the body of a forwarded response that the app returns untouched. */
  untouchedBody(response: Response): number | undefined;
}

/** `forward` of one exchange. */
export function fetchForwarding(forwards: Forwarding, exchange: string): FetchForwarding {
  const bodies = new WeakMap<object, { readonly number: number; isRead: boolean }>();

  /** Asks for the body when it is read, not before. */
  function lazyBody(number: number): ReadableStream<Uint8Array> {
    const state = { number, isRead: false };
    let chunks: AsyncIterator<Uint8Array> | undefined;
    const stream = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          state.isRead = true;
          chunks ??= (await forwards.open(exchange, number))[Symbol.asyncIterator]();
          const { done, value } = await chunks.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel() {
          await chunks?.return?.();
        },
      },
      { highWaterMark: 0 },
    );
    bodies.set(stream, state);
    return stream;
  }

  return {
    async send(request) {
      const { method, signal, url } = request;
      const { pathname, search, host } = new URL(url);
      const { status, headers, body } = await forwards.send(exchange, {
        method,
        path: pathname + search,
        headers: { host, ...Object.fromEntries(request.headers) },
        body: request.body ? Readable.fromWeb(request.body as never) : undefined,
        signal,
      });
      return new Response(body === undefined ? null : lazyBody(body), { status, headers });
    },
    untouchedBody({ body, bodyUsed }) {
      const known = body && !bodyUsed && !body.locked ? bodies.get(body) : undefined;
      return known && !known.isRead ? known.number : undefined;
    },
  };
}

/** A request for the project's app, with what the server knows about it. */
export interface AppExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: AppRequestContext;
  readonly forwards: Forwarding;
}
