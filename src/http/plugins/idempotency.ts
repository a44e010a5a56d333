import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { IdempotencyHeaders } from '../../schemas/request-params.ts';
import type { IdempotencyContext, IdempotencyService } from '../../services/idempotency.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if the request has an `Idempotency-Key`. */
    idempotencyContext: IdempotencyContext | undefined;
  }
  interface FastifyInstance {
    /** Stores the body of a hijacked reply, if its request has an `Idempotency-Key`. Call before sending its end. */
    readonly storeAnswer: (reply: FastifyReply, body: string) => Promise<void>;
  }
}

const REPLAYED = 'idempotency-replayed';
/** Reply headers stored with the body. */
const STORED_HEADERS = ['content-type', 'content-location', 'location'];

/**
 * `Idempotency-Key`: replays the first answer to a repeated request. Routes opt in by `config: { idempotent: true }`.
 * Routes that create runs attach to the existing run; others replay the stored reply.
 */
export function useIdempotency(server: FastifyInstance, idempotency: IdempotencyService): void {
  server.decorateRequest('idempotencyContext');

  const store = (context: IdempotencyContext, reply: FastifyReply, body: string) =>
    idempotency.store(context, { status: reply.statusCode, headers: headersOf(reply), body });
  server.decorate('storeAnswer', async (reply: FastifyReply, body: string) => {
    const { idempotencyContext } = reply.request;
    if (idempotencyContext) await store(idempotencyContext, reply, body);
  });

  server.addHook('onRoute', (route) => {
    if (route.config?.idempotent) route.schema = { headers: IdempotencyHeaders, ...route.schema };
  });

  server.addHook('preHandler', async (request, reply) => {
    const key = keyOf(request);
    if (key === undefined) return;
    const { method, url, body } = request;
    const started = await idempotency.begin(request.actor, key, { method, url, body });
    if (!('answer' in started)) {
      request.idempotencyContext = started;
      // A hijacked reply does not get to `onSend`.
      const { hijack } = reply;
      reply.hijack = () => {
        idempotency.detach(started);
        return hijack.call(reply);
      };
      if (started.run) reply.header(REPLAYED, 'true');
      return;
    }
    const { status, headers, body: text } = started.answer;
    return reply.code(status).headers(headers).header(REPLAYED, 'true').send(text);
  });

  server.addHook('onSend', async ({ idempotencyContext }, reply, payload) => {
    if (!idempotencyContext) return;
    if (reply.statusCode >= 400) await idempotency.release(idempotencyContext);
    // A long list is a buffer (`useSlicedLists`).
    else if (typeof payload === 'string' || Buffer.isBuffer(payload))
      await store(idempotencyContext, reply, String(payload));
    else idempotency.detach(idempotencyContext);
  });
}

function keyOf({ routeOptions, headers }: FastifyRequest): string | undefined {
  if (!routeOptions.config.idempotent) return undefined;
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

function headersOf(reply: FastifyReply): Record<string, string> {
  const present = STORED_HEADERS.filter((name) => reply.hasHeader(name));
  return Object.fromEntries(present.map((name) => [name, String(reply.getHeader(name))]));
}
