import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from '../core/logger.ts';

/** A reply that takes long: a stream, or waiting for a run. */
export interface Connection extends Disposable {
  /** Aborts when the client goes away, or the server closes. */
  readonly signal: AbortSignal;
  readonly clientDisconnected: boolean;
}

/** The long replies of a server. It ends them before it closes: an open one would keep it from closing. */
export interface Connections {
  /** `onDisconnect` is called once when the client leaves before the reply's end; its failure is only logged. */
  open(reply: FastifyReply, onDisconnect?: () => Promise<void>): Connection;
}

export function trackConnections(server: FastifyInstance, logger: Logger): Connections {
  const open = new Set<AbortController>();
  server.addHook('preClose', async () => {
    for (const controller of open) controller.abort(SERVER_CLOSES);
  });

  return {
    open({ raw, request }, onDisconnect) {
      const controller = new AbortController();
      const { signal } = controller;
      const onClientClose = () => {
        // The server broke the connection off itself.
        if (signal.aborted) return;
        controller.abort(CLIENT_GONE);
        onDisconnect?.().catch((error) =>
          logger.error('cleanup after a client disconnected failed', { request_id: request.id, error }),
        );
      };
      open.add(controller);
      // It may have left while the run was being created.
      if (raw.destroyed) onClientClose();
      else raw.once('close', onClientClose);
      return {
        signal,
        get clientDisconnected() {
          return signal.reason === CLIENT_GONE;
        },
        [Symbol.dispose]() {
          open.delete(controller);
          raw.off('close', onClientClose);
        },
      };
    },
  };
}

const CLIENT_GONE = new Error('the client closed the connection');
const SERVER_CLOSES = new Error('the server is shutting down');

/**
 * Cuts connections on which no whole request has come when the server closes. Node waits for them as for those that
 * are being answered: half a minute for one that says nothing, such as a browser opens ahead, and longer for a body that
 * comes slowly.
 */
export function closeIncompleteRequests(server: FastifyInstance): void {
  const requests = new Map<Socket, IncomingMessage | undefined>();
  let isClosing = false;
  server.server.on('connection', (socket) => {
    requests.set(socket, undefined);
    socket.once('close', () => requests.delete(socket));
  });
  server.server.on('request', (request, response) => {
    const { socket } = request;
    requests.set(socket, request);
    response.once('close', () => {
      if (requests.get(socket) !== request) return;
      requests.set(socket, undefined);
      // The next one may have begun.
      if (isClosing) socket.destroySoon();
    });
  });
  // It says goodbye in its own way.
  server.server.on('upgrade', ({ socket }) => requests.delete(socket));
  server.addHook('preClose', async () => {
    isClosing = true;
    for (const [socket, request] of requests) {
      if (!request?.complete) socket.destroy();
    }
  });
}
