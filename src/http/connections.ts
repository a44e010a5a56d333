import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { immediate } from '../core/event-loop.ts';
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

/** Long-lived replies of a server. They end in `preClose` or right after it: an open one would block `close()`. */
export interface Connections {
  /**
   * Calls `onDisconnect` once if the client disconnects before the reply ends; its failure is only logged.
   * `closingMs`: asked when the server closes, how long it waits for the reply, ms.
   */
  open(reply: FastifyReply, onDisconnect?: () => Promise<void>, closingMs?: () => number): Connection;
}

export function trackConnections(server: FastifyInstance, logger: Logger): Connections {
  const open = new Map<AbortController, () => number>();
  let isClosing = false;
  const close = (controller: AbortController, closing_ms: number) => {
    if (closing_ms === 0) controller.abort(SERVER_CLOSES);
    else after(closing_ms, () => controller.abort(SERVER_CLOSES)).unref();
  };
  server.addHook('preClose', async () => {
    isClosing = true;
    for (const [controller, closingMs] of open) close(controller, closingMs());
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
      if (isClosing) close(controller, closingMs());
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

/** How long an incomplete request may take once the server closes, ms. */
const INCOMPLETE_MS = 1_000;

/**
 * Graceful drain: on close, destroys idle connections, and those whose request is incomplete a second later. Node waits for
 * them as for active ones: 30 s for one without a request, such as a browser's preconnect, and longer for a slow body.
 */
export function closeIncompleteRequests(server: FastifyInstance): void {
  /** The request of each connection; `'none yet'` before its first, `undefined` between two. */
  const requests = new Map<Socket, IncomingMessage | 'none yet' | undefined>();
  let isClosing = false;
  const isIncomplete = (socket: Socket) => {
    const request = requests.get(socket);
    return requests.has(socket) && !(typeof request === 'object' && request.complete);
  };
  const closeLater = (socket: Socket) =>
    after(INCOMPLETE_MS, () => isIncomplete(socket) && socket.destroy()).unref();

  server.server.on('connection', (socket) => {
    requests.set(socket, 'none yet');
    socket.once('close', () => requests.delete(socket));
    if (isClosing) closeLater(socket);
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
      if (request === undefined) socket.destroy();
      else if (isIncomplete(socket)) closeLater(socket);
    }
  });
}

/** Linux queues up to 511 connections; a flood of new ones must not keep the listener open. */
const MAX_ACCEPT_TURNS = 1000;

/**
 * Accepts waiting connections right before the listener closes, which would reset them; Node takes one in a turn. Not in a
 * hook: others may take turns after it.
 */
export function acceptBeforeClosing(server: Server): void {
  let accepted = 0;
  server.on('connection', () => (accepted += 1));
  const close = server.close.bind(server);
  async function acceptAll(): Promise<void> {
    for (let turn = 0, known = -1; turn < MAX_ACCEPT_TURNS && known !== accepted; turn++) {
      known = accepted;
      await immediate();
      await immediate();
    }
  }
  server.close = (done) => {
    void acceptAll().then(() => close(done));
    return server;
  };
}
