import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { Latch } from '../core/latch.ts';
import { createServer } from '../core/node-http.ts';
import { timeoutSignal } from '../core/timers.ts';

/**
 * Dispatches requests of one listening socket to other servers in this process. Both methods return false for
 * requests that they do not take.
 */
export interface Dispatch {
  request(request: IncomingMessage, response: ServerResponse): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
}

/** Options that Fastify sets on servers that it creates itself. */
interface FactoryOptions {
  readonly http?: ServerOptions;
  readonly keepAliveTimeout?: number;
  readonly requestTimeout?: number;
}

/** For Fastify's `serverFactory`: asks `dispatch` before the routes; hooks do not see dispatched requests. */
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

/** Wraps the upgrade listeners that `register` adds: they receive only what `dispatch` does not take. */
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

/** A server without its own socket. Counts its open requests. */
export class MountedServer {
  readonly #server: FastifyInstance;
  readonly #changed = new Latch();
  #open = 0;

  constructor(server: FastifyInstance) {
    this.#server = server;
  }

  /** Number of open requests and WebSockets. */
  get open(): number {
    return this.#open;
  }

  request(request: IncomingMessage, response: ServerResponse): void {
    // The client disconnected during dispatch: nothing would end the request.
    if (response.destroyed) return;
    this.#count(response);
    this.#server.routing(request, response);
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (socket.destroyed) return;
    this.#count(socket);
    this.#server.server.emit('upgrade', request, socket, head);
  }

  /** Resolves when nothing is open, after `ms`, or on abort; `true` if nothing is open. */
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
