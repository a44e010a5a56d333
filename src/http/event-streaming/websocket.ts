import type { IncomingMessage } from 'node:http';
import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { ServerError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { after } from '../../core/timers.ts';
import { ThreadPath } from '../../schemas/path-params.ts';
import type { EventStreamingService } from '../../services/event-streaming/event-streaming.ts';
import { converse, refuse, type Socket } from './conversation.ts';

const RESTARTING = 1012;
/** How long a client may take to say goodbye when the server closes, ms. */
const GOODBYE_MS = 200;

/**
 * Other offers to change the protocol are no reason to refuse a request: clients written in Java offer HTTP/2 with
 * each.
 */
export function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** `max_bytes`: the largest message that a client may send. */
export async function useWebSockets(server: FastifyInstance, max_bytes: number): Promise<void> {
  await server.register(websocket, {
    options: { maxPayload: max_bytes },
    preClose(done) {
      const clients: Iterable<Socket> = server.websocketServer.clients;
      for (const client of clients) client.close(RESTARTING, 'the server is shutting down');
      after(GOODBYE_MS, () => {
        for (const client of clients) client.terminate();
      }).unref();
      server.websocketServer.close();
      done();
    },
  });
}

export function webSocketRoutes(
  server: FastifyInstance,
  { eventStreaming, logger }: { eventStreaming: EventStreamingService; logger: Logger },
) {
  server.route<{ Params: { thread_id: string } }>({
    method: 'GET',
    url: '/threads/:thread_id/stream/events',
    schema: { hide: true },
    config: { scope: 'run' },
    exposeHeadRoute: false,
    errorHandler(error, request, reply) {
      if (!request.ws) throw error;
      reply.hijack();
      // A browser is not told the status of a refused handshake, and could not tell a wrong key from a broken line.
      const status = error instanceof ServerError ? error.status : 500;
      const { raw } = request;
      server.websocketServer.handleUpgrade(raw, raw.socket, NOTHING, (socket: Socket) =>
        refuse(socket, status, status < 500 ? error.message : 'Internal Server Error'),
      );
    },
    handler: (_request, reply) =>
      reply.code(405).header('allow', 'POST').send({ detail: 'Method Not Allowed' }),
    wsHandler(socket: Socket, { actor, params, id }) {
      const path = ThreadPath.safeParse(params);
      if (!path.success) return refuse(socket, 422, path.error.issues[0]?.message);
      const log = logger.with({ request_id: id });
      return converse(socket, actor, path.data.thread_id, {
        eventStreaming,
        logger: log,
        bodies: server.bodies,
      });
    },
  });
}

const NOTHING = Buffer.alloc(0);
