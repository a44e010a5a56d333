import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { acceptBeforeClosing } from './connections.ts';

/** Where a server listens. Dispose it as the server closes, which ends the connections that this waits for. */
export interface Listening extends AsyncDisposable {
  readonly url: string;
}

type Addresses = readonly [string, ...string[]];

/** Addresses of a host; for `localhost` all of them, such as `127.0.0.1` and `::1`. */
export async function addressesOf(host: string): Promise<Addresses> {
  const found = host === 'localhost' ? await lookup(host, { all: true }) : [];
  const [first = host, ...others] = new Set(found.map(({ address }) => address));
  return [first, ...others];
}

/**
 * Listens on the first address, and on as many of the others as are available. Fastify would create another
 * server for each address of `localhost`, without the connection limits and the graceful drain of this one.
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
    async [Symbol.asyncDispose]() {
      await Promise.all(also.map((listener) => listener?.[Symbol.asyncDispose]()));
    },
  };
}

/** The port of a server's URL, which omits the one of HTTP. */
export function portOf(url: string): number {
  return Number(new URL(url).port || 80);
}

/** A port of the operating system's choice that no other program can take. Dispose it right before the server listens. */
export interface HeldPort extends Disposable {
  readonly port: number;
}

/** Holds a free port, so that graphs can be told the server's address as they load. */
export async function holdFreePort(host: string): Promise<HeldPort> {
  const [address] = await addressesOf(host);
  const holder = createServer((socket) => socket.destroy());
  holder.listen({ host: address, port: 0 });
  await once(holder, 'listening');
  return { port: (holder.address() as AddressInfo).port, [Symbol.dispose]: () => holder.close() };
}

/** Also listens on this address, at the server's port. `undefined` if the address is unavailable. */
async function handConnections(host: string, server: Server) {
  // Same options as Node's own HTTP server.
  const listener = createServer({ allowHalfOpen: true, noDelay: true });
  listener.on('connection', (socket) => {
    server.emit('connection', Object.assign(socket, { server }));
  });
  acceptBeforeClosing(listener);
  if (server.maxConnections !== undefined) listener.maxConnections = server.maxConnections;
  listener.listen({ host, port: (server.address() as AddressInfo).port });
  return await once(listener, 'listening').then(
    () => listener,
    () => undefined,
  );
}
