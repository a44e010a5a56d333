import { type Readable, Transform } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BadRequest, ContentTooLarge, Unavailable } from '../core/errors.ts';
import { type ParsedJson, secureJsonParse } from './secure-json.ts';

declare module 'fastify' {
  interface FastifyInstance {
    readonly bodies: RequestBodies;
  }
  interface FastifyRequest {
    /** Bytes of the request's body that count as in flight. */
    body_bytes: number;
  }
}

/** Keys of the configuration's `server` block. */
export interface BodyLimits {
  /** Largest body, bytes. */
  readonly body_limit: number;
  /** Bytes of all bodies in flight. */
  readonly body_budget: number;
  /** JSON values per body, keys included. */
  readonly max_body_values: number;
}

/** Body limit of some routes and the setting that defines it; `server.body_limit` may be lower. */
export interface RouteBodyLimit {
  readonly bytes: number;
  readonly setting: string;
}

/** Reads request bodies within a budget shared by all requests. */
export interface RequestBodies {
  /**
   * Reads the whole body. Its bytes count as in flight until the reply is sent or `release`. Throws `ContentTooLarge`,
   * `Unavailable` if the budget is exhausted, and `BadRequest` if the client disconnects.
   */
  read(request: FastifyRequest, payload: Readable, own?: RouteBodyLimit): Promise<Buffer<ArrayBuffer>>;
  /**
   * The body as a stream that is not buffered here, for a reader in another process. Throws `ContentTooLarge`;
   * the stream fails with it if the limit is exceeded later, and with `BadRequest` if the client disconnects.
   */
  limited(request: FastifyRequest, payload: Readable): Readable;
  /** `read` as text. */
  text(request: FastifyRequest, payload: Readable, own?: RouteBodyLimit): Promise<string>;
  /** See `secureJsonParse`. */
  json(text: string): Promise<ParsedJson>;
  /**
   * Counts bytes that arrive otherwise, such as a WebSocket message, as in flight until disposed. Throws `Unavailable`
   * like `read`.
   */
  count(bytes: number): Disposable;
  /** Releases the body of a request whose reply may take long. */
  release(request: FastifyRequest): void;
}

/** Admitted per body regardless of the budget, so that large requests cannot starve small ones. */
const ALWAYS_ACCEPTED_BYTES = 64 * 1024;

/** Budget of bytes in flight. */
class Budget {
  readonly #most: number;
  #in_flight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws `Unavailable` if `more` bytes of a body of this length exceed the budget. */
  check(length: number, more: number): void {
    if (length > ALWAYS_ACCEPTED_BYTES && this.#in_flight + more > this.#most)
      throw new Unavailable('The server is busy with other large requests: try again');
  }

  add(bytes: number): void {
    this.#in_flight += bytes;
  }

  /** Counts bytes until disposed. Throws `Unavailable`. */
  hold(bytes: number): Disposable {
    this.check(bytes, bytes);
    this.add(bytes);
    let held = bytes;
    return {
      [Symbol.dispose]: () => {
        this.add(-held);
        held = 0;
      },
    };
  }
}

export function useRequestBodies(
  server: FastifyInstance,
  { body_limit, body_budget, max_body_values }: BodyLimits,
): void {
  const budget = new Budget(Math.max(body_budget, body_limit));
  const serverLimit: RouteBodyLimit = { bytes: body_limit, setting: 'server.body_limit' };
  const gone = new WeakSet<FastifyRequest>();
  const refused = new WeakSet<FastifyRequest>();

  /** Admission check before `more` bytes are buffered. */
  function check(request: FastifyRequest, more: number, limit: RouteBodyLimit): void {
    const length = request.body_bytes + more;
    if (length > limit.bytes) throw tooLarge(limit);
    budget.check(length, more);
  }

  function release(request: FastifyRequest): void {
    budget.add(-request.body_bytes);
    request.body_bytes = 0;
  }

  function hold(request: FastifyRequest, bytes: number, limit: RouteBodyLimit): void {
    if (gone.has(request)) throw new BadRequest(TRUNCATED);
    check(request, bytes, limit);
    budget.add(bytes);
    request.body_bytes += bytes;
  }

  /** Event listeners: an async iterator costs a small body more than everything else here. */
  function read(request: FastifyRequest, payload: Readable, own = serverLimit): Promise<Buffer<ArrayBuffer>> {
    const limit = own.bytes < body_limit ? own : serverLimit;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer<ArrayBuffer>>();
    const chunks: Buffer[] = [];
    let isWhole = false;
    const finish = () => {
      isWhole = true;
      resolve(Buffer.concat(chunks));
    };
    // Every body ends with `close`; it is an error only if the body is incomplete.
    const cutOff = () => isWhole || reject(new BadRequest(TRUNCATED));
    const refuse = (error: unknown) => {
      // Drop the buffered chunks and discard the rest.
      payload.off('data', onData).off('end', finish).resume();
      chunks.length = 0;
      release(request);
      refused.add(request);
      reject(error);
    };
    const orRefuse = (step: () => void) => {
      try {
        step();
      } catch (error) {
        refuse(error);
      }
    };
    const onData = (chunk: Buffer) =>
      orRefuse(() => {
        hold(request, chunk.length, limit);
        chunks.push(chunk);
      });
    payload.on('data', onData);
    payload.once('end', finish);
    for (const event of ['error', 'close']) payload.once(event, cutOff);
    orRefuse(() => {
      if (payload.destroyed && !payload.readableEnded) throw new BadRequest(TRUNCATED);
      check(request, Number(request.headers['content-length'] ?? 0), limit);
    });
    return promise;
  }

  server.decorateRequest('body_bytes', 0);
  server.decorate('bodies', {
    read,
    limited: (request, payload) => limitedBody(request, payload, serverLimit, refused),
    text: async (request, payload, own) => (await read(request, payload, own)).toString(),
    json: (text) => secureJsonParse(text, max_body_values),
    count: (bytes) => budget.hold(bytes),
    release(request) {
      release(request);
      request.body = undefined;
    },
  });
  keepConnectionOpen(server, refused);
  onReplyClose(server, (request) => {
    gone.add(request);
    release(request);
  });
}

/** See `RequestBodies.limited`. */
function limitedBody(
  request: FastifyRequest,
  payload: Readable,
  limit: RouteBodyLimit,
  refused: WeakSet<FastifyRequest>,
): Readable {
  const refuse = () => {
    payload.resume();
    refused.add(request);
    return tooLarge(limit);
  };
  const { 'content-length': length } = request.headers;
  if (Number(length ?? 0) > limit.bytes) throw refuse();
  // Node reads no more than the announced length.
  if (length !== undefined) return payload;
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= limit.bytes) return done(null, chunk);
      payload.unpipe(counted);
      done(refuse());
    },
  });
  const cutOff = () => payload.readableEnded || counted.destroy(new BadRequest(TRUNCATED));
  for (const event of ['error', 'close']) payload.once(event, cutOff);
  return payload.pipe(counted);
}

function tooLarge({ bytes, setting }: RouteBodyLimit): ContentTooLarge {
  return new ContentTooLarge(
    `Request body too large (limit: ${bytes} bytes). The limit is set by ${setting}.`,
  );
}

/** Calls `forget` when the reply is closed: the body is no longer in flight. */
function onReplyClose(server: FastifyInstance, forget: (request: FastifyRequest) => void): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
    if (length !== undefined || encoding !== undefined) reply.raw.once('close', () => forget(request));
    done();
  });
}

/** Overrides Fastify, which would close the connection: a client still sending would never read the error. */
function keepConnectionOpen(server: FastifyInstance, refused: WeakSet<FastifyRequest>): void {
  server.addHook('onError', async (request, reply) => {
    if (refused.has(request)) reply.removeHeader('connection');
  });
}

const TRUNCATED = 'The connection closed before the request body was complete';
