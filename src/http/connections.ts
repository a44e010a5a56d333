import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from '../core/logger.ts';

/** A reply that takes long: a stream, or waiting for a run. */
export interface Connection extends Disposable {
  /** Aborts when the client goes away, or the server closes. */
  readonly signal: AbortSignal;
  readonly clientIsGone: boolean;
}

/** The long replies of a server. It ends them before it closes: an open one would keep it from closing. */
export interface Connections {
  /** `onGone` is called once when the client leaves before the reply's end; its failure is only logged. */
  open(reply: FastifyReply, onGone?: () => Promise<void>): Connection;
}

export function trackConnections(server: FastifyInstance, logger: Logger): Connections {
  const open = new Set<AbortController>();
  server.addHook('preClose', async () => {
    for (const controller of open) controller.abort(SERVER_CLOSES);
  });

  return {
    open({ raw, request }, onGone) {
      const controller = new AbortController();
      const { signal } = controller;
      const leave = () => {
        // The server broke the connection off itself.
        if (signal.aborted) return;
        controller.abort(CLIENT_GONE);
        onGone?.().catch((error) =>
          logger.error('cleanup after a client disconnected failed', { request_id: request.id, error }),
        );
      };
      open.add(controller);
      // It may have left while the run was being created.
      if (raw.destroyed) leave();
      else raw.once('close', leave);
      return {
        signal,
        get clientIsGone() {
          return signal.reason === CLIENT_GONE;
        },
        [Symbol.dispose]() {
          open.delete(controller);
          raw.off('close', leave);
        },
      };
    },
  };
}

const CLIENT_GONE = new Error('the client closed the connection');
const SERVER_CLOSES = new Error('the server is shutting down');
