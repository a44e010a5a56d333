import type { IncomingMessage } from 'node:http';
import websocket from '@fastify/websocket';
import type { FastifyInstance } from 'fastify';
import { ServerError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { after } from '../../core/timers.ts';
import { ThreadPath } from '../../schemas/request-params.ts';
import type { EventStreamingService } from '../../services/event-streaming/event-streaming.ts';
import { type AuthOptions, reauthentication } from '../plugins/auth.ts';
import type { RateCounts } from '../plugins/rate-limit.ts';
import { closeIfStalled } from '../stalled-clients.ts';
import { closeWithStatus, runSession, type Socket } from './websocket-session.ts';

const SERVICE_RESTART = 1012;
/** Timeout of the close handshake at shutdown, ms. */
const CLOSE_TIMEOUT_MS = 200;

/** Ignores other `Upgrade` offers: Java clients offer HTTP/2 (h2c) with every request. */
export function isWebSocketUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** `max_bytes`: the largest message that a client may send. */
export async function useWebSockets(server: FastifyInstance, max_bytes: number): Promise<void> {
  await server.register(websocket, {
    options: { maxPayload: max_bytes },
    preClose(done) {
      const clients: Iterable<Socket> = server.websocketServer.clients;
      for (const client of clients) client.close(SERVICE_RESTART, 'the server is shutting down');
      after(CLOSE_TIMEOUT_MS, () => {
        for (const client of clients) client.terminate();
      }).unref();
      server.websocketServer.close();
      done();
    },
  });
}

export function webSocketRoutes(
  server: FastifyInstance,
  {
    eventStreaming,
    auth,
    logger,
    rates,
  }: {
    eventStreaming: EventStreamingService;
    auth: Pick<AuthOptions, 'authenticate'>;
    logger: Logger;
    rates: Pick<RateCounts, 'countCommand'> | undefined;
  },
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
      // Accept, then close with a code: a browser cannot read the status of a refused handshake.
      const status = error instanceof ServerError ? error.status : 500;
      const { raw } = request;
      server.websocketServer.handleUpgrade(raw, raw.socket, EMPTY, (socket: Socket) => {
        // Until it has closed, the client may send malformed frames.
        socket.on('error', () => socket.terminate());
        closeWithStatus(socket, status, status < 500 ? error.message : 'Internal Server Error');
      });
    },
    handler: (_request, reply) =>
      reply.code(405).header('allow', 'POST').send({ detail: 'Method Not Allowed' }),
    wsHandler(socket: Socket, request) {
      const { actor, params, id } = request;
      const path = ThreadPath.safeParse(params);
      if (!path.success) return closeWithStatus(socket, 422, path.error.issues[0]?.message);
      const log = logger.with({ request_id: id });
      closeIfStalled(request.raw.socket, { logger: log });
      return runSession(socket, actor, path.data.thread_id, {
        eventStreaming,
        authenticate: reauthentication(request, auth.authenticate),
        count: async () => rates?.countCommand(request),
        logger: log,
        bodies: server.bodies,
      });
    },
  });
}

const EMPTY = Buffer.alloc(0);
