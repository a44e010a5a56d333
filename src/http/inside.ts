import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { inject } from 'light-my-request';

/** How a request came in that never was on a wire. */
export type Passage =
  /** The project's own app let it through. */
  | { readonly from: FastifyRequest }
  /** A webhook for one of the project's own routes; ours are not for it. */
  | { readonly from?: undefined; readonly own_routes_only: true };

const passages = new WeakMap<IncomingMessage, Passage>();
const ours = new WeakSet<IncomingMessage>();

/** Whether it was this process that asked, and nobody outside. */
export function isFromWithin(raw: IncomingMessage): boolean {
  const from = passageOf(raw)?.from;
  return from ? isFromWithin(from.raw) : ours.has(raw);
}

export function passageOf(raw: IncomingMessage): Passage | undefined {
  return passages.get(raw);
}

/** Headers about a connection, which the answer inside has none of. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'date'];
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/** Has a request answered by the server without a connection. Streams come as they are written. */
export async function answerInside(
  server: FastifyInstance,
  request: Request,
  passage?: Passage,
): Promise<Response> {
  const { method, signal, headers } = request;
  signal.throwIfAborted();
  const { host, pathname, search } = new URL(request.url);
  const payload = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
  let written: ServerResponse | undefined;
  const leave = () => written?.destroy();
  signal.addEventListener('abort', leave, { once: true });

  const answer = await inject(
    (raw, response) => {
      written = response as unknown as ServerResponse;
      // Not before: what is answered has ended, or whoever asked is gone.
      written.once('close', () => signal.removeEventListener('abort', leave));
      const incoming = raw as unknown as IncomingMessage;
      if (passage) passages.set(incoming, passage);
      ours.add(incoming);
      server.routing(incoming, written);
    },
    {
      method: method as 'GET',
      url: pathname + search,
      authority: host,
      headers: Object.fromEntries(headers),
      // Of the connection, so that a proxy there is believed here too.
      remoteAddress: passage?.from?.raw.socket.remoteAddress ?? '127.0.0.1',
      payloadAsStream: true,
      ...(payload ? { payload } : {}),
    },
  ).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });

  const body = answer.stream();
  body.once('close', leave);
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
    if (OF_CONNECTION.includes(name)) continue;
    for (const each of [value].flat()) headers.append(name, String(each));
  }
  return headers;
}
