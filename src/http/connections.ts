import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from '../core/logger.ts';
import { after } from '../core/timers.ts';

/** A long-lived reply: a stream, or a wait for a run. */
export interface Connection extends Disposable {
  /** Aborts when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
  readonly clientDisconnected: boolean;
  /** Ends the reply from the server's side: aborts the signal with this reason. */
  readonly end: (reason: Error) => void;
}

/** Long-lived replies of a server. They end in `preClose`: an open one would block `close()`. */
export interface Connections {
  /**
   * Calls `onDisconnect` once if the client disconnects before the reply ends; its failure is only logged.
   * `closingMs`: asked when the server closes, how long it waits for the reply, ms.
   */
  open(reply: FastifyReply, onDisconnect?: () => Promise<void>, closingMs?: () => number): Connection;
}

export function trackConnections(server: FastifyInstance, logger: Logger): Connections {
  const open = new Map<AbortController, () => number>();
  server.addHook('preClose', async () => {
    for (const [controller, closingMs] of open) {
      const closing_ms = closingMs();
      if (closing_ms === 0) controller.abort(SERVER_CLOSES);
      else after(closing_ms, () => controller.abort(SERVER_CLOSES)).unref();
    }
  });

  return {
    open({ raw, request }, onDisconnect, closingMs = () => 0) {
      const controller = new AbortController();
      const { signal } = controller;
      const onClientClose = () => {
        // The server closed the connection itself.
        if (signal.aborted) return;
        controller.abort(CLIENT_GONE);
        onDisconnect?.().catch((error) =>
          logger.error('cleanup after a client disconnected failed', { request_id: request.id, error }),
        );
      };
      open.set(controller, closingMs);
      // The client may have disconnected while the run was being created.
      if (raw.destroyed) onClientClose();
      else raw.once('close', onClientClose);
      return {
        signal,
        get clientDisconnected() {
          return signal.reason === CLIENT_GONE;
        },
        end: (reason) => controller.abort(reason),
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
 * Graceful drain: on close, destroys connections without a complete request. Node waits for them as for active ones: 30
 * s for an idle one, such as a browser's preconnect, and longer for a slow body.
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
      // A pipelined request may have begun.
      if (isClosing) socket.destroySoon();
    });
  });
  // WebSockets have their own close handshake.
  server.server.on('upgrade', ({ socket }) => requests.delete(socket));
  server.addHook('preClose', async () => {
    isClosing = true;
    for (const [socket, request] of requests) {
      if (!request?.complete) socket.destroy();
    }
  });
}
