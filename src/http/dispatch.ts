import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { Latch } from '../core/latch.ts';
import { createServer } from '../core/node-http.ts';
import { timeoutSignal } from '../core/timers.ts';

/** Sends requests of one listening socket to other servers of this process. Both return false for the others. */
export interface Dispatch {
  request(request: IncomingMessage, response: ServerResponse): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
}

/** Options that Fastify sets on servers that it makes itself. */
interface FactoryOptions {
  readonly http?: ServerOptions;
  readonly keepAliveTimeout?: number;
  readonly requestTimeout?: number;
}

/** For Fastify's `serverFactory`: asks `dispatch` before its routes; no hook sees what goes elsewhere. */
export function dispatchingServer(dispatch: Dispatch) {
  return (handle: RequestListener, options: FactoryOptions): Server => {
    const server = createServer(options.http ?? {}, (request, response) => {
      if (!dispatch.request(request, response)) handle(request, response);
    });
    if (options.keepAliveTimeout !== undefined) server.keepAliveTimeout = options.keepAliveTimeout;
    if (options.requestTimeout !== undefined) server.requestTimeout = options.requestTimeout;
    return server;
  };
}

/** Wraps the listeners for upgrades that `register` adds: they are asked for what `dispatch` does not take. */
export async function dispatchUpgrades(
  { server }: FastifyInstance,
  dispatch: Dispatch | undefined,
  register: () => Promise<void>,
): Promise<void> {
  const before = new Set(server.listeners('upgrade'));
  await register();
  if (!dispatch) return;
  const added = server.listeners('upgrade').filter((listener) => !before.has(listener));
  for (const listener of added) server.off('upgrade', listener as () => void);
  server.on('upgrade', (request, socket, head) => {
    if (dispatch.upgrade(request, socket, head)) return;
    for (const listener of added) listener.call(server, request, socket, head);
  });
}

/** A server without a socket of its own. It knows which of its requests are under way. */
export class MountedServer {
  readonly #server: FastifyInstance;
  readonly #changed = new Latch();
  #open = 0;

  constructor(server: FastifyInstance) {
    this.#server = server;
  }

  /** Requests and WebSockets that are open. */
  get open(): number {
    return this.#open;
  }

  request(request: IncomingMessage, response: ServerResponse): void {
    // The client left while it was decided where the request goes: nothing would end it.
    if (response.destroyed) return;
    this.#count(response);
    this.#server.routing(request, response);
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (socket.destroyed) return;
    this.#count(socket);
    this.#server.server.emit('upgrade', request, socket, head);
  }

  /** Resolves when nothing is open, or after `ms`; as soon as the signal aborts. */
  async idle(ms: number, signal: AbortSignal): Promise<boolean> {
    const late = AbortSignal.any([signal, timeoutSignal(ms)]);
    while (this.#open > 0 && !late.aborted) await this.#changed.wait(ms, late);
    return this.#open === 0;
  }

  #count(connection: { once(event: 'close', listener: () => void): unknown }): void {
    this.#open += 1;
    connection.once('close', () => {
      this.#open -= 1;
      this.#changed.open();
    });
  }
}
