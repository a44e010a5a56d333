import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Where a server listens. Dispose it before the server closes. */
export interface Listening extends Disposable {
  readonly url: string;
}

type Addresses = readonly [string, ...string[]];

/** The addresses of a host: of `localhost` all, such as `127.0.0.1` and `::1`. */
export async function addressesOf(host: string): Promise<Addresses> {
  const found = host === 'localhost' ? await lookup(host, { all: true }) : [];
  const [first = host, ...others] = new Set(found.map(({ address }) => address));
  return [first, ...others];
}

/**
 * Listens at the first address, and at those of the others that can be had. Fastify would make another server for each
 * address of `localhost`, to which the limits of connections and their end at a stop do not apply.
 */
export async function listenAt(
  server: FastifyInstance,
  [host, ...others]: Addresses,
  port: number,
): Promise<Listening> {
  const url = await server.listen({ host, port });
  const also = await Promise.all(others.map((address) => handConnections(address, server.server)));
  return {
    url,
    [Symbol.dispose]() {
      for (const listener of also) listener?.close();
    },
  };
}

/** Listens there, too, at the port of the server. `undefined` if the address cannot be had. */
async function handConnections(host: string, server: Server) {
  // As Node's own HTTP server does.
  const listener = createServer({ allowHalfOpen: true, noDelay: true });
  listener.on('connection', (socket) => {
    server.emit('connection', Object.assign(socket, { server }));
  });
  if (server.maxConnections !== undefined) listener.maxConnections = server.maxConnections;
  listener.listen({ host, port: (server.address() as AddressInfo).port });
  return await once(listener, 'listening').then(
    () => listener,
    () => undefined,
  );
}
