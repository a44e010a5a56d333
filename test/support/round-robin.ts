import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface RoundRobin extends AsyncDisposable {
  readonly url: string;
  /** How many requests each of them got. */
  readonly shares: readonly number[];
  /** Index of the server whose answer to a request for this path is still open. */
  serverOf(path: string): number | undefined;
}

/** A proxy that hands each request to the next of the servers, whatever the one before was about. */
export async function roundRobin(...urls: readonly string[]): Promise<RoundRobin> {
  const shares = urls.map(() => 0);
  let count = 0;
  const sockets = new Set<Socket>();
  const open = new Map<string, number>();
  const nextServer = (): number => {
    const next = count++ % urls.length;
    shares[next] = (shares[next] ?? 0) + 1;
    return next;
  };
  const proxy = createServer((asked, answer) => {
    const { method = '', url = '', headers } = asked;
    const server = nextServer();
    const passed = request(`${urls[server]}${url}`, { method, headers }, (given) => {
      open.set(url, server);
      answer.writeHead(given.statusCode ?? 502, given.headers);
      answer.flushHeaders();
      given.pipe(answer);
      // A stream that its server breaks off must not look complete.
      given.on('error', () => answer.destroy());
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => {
      open.delete(url);
      passed.destroy();
    });
    asked.pipe(passed);
  });
  proxy.on('upgrade', (asked: IncomingMessage, client: Socket, head: Buffer) => {
    const { hostname, port } = new URL(urls[nextServer()] as string);
    const server = connect(Number(port), hostname);
    server.write(Buffer.concat([Buffer.from(headOf(asked)), head]));
    const destroy = () => {
      for (const socket of [client, server]) sockets.delete(socket.destroy());
    };
    for (const socket of [client, server]) sockets.add(socket.on('error', () => {}).on('close', destroy));
    client.pipe(server).pipe(client);
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    shares,
    serverOf: (path) => open.get(path),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.closeAllConnections();
      await new Promise((closed) => proxy.close(closed));
    },
  };
}

/** A request that asks for a WebSocket, as it came. */
function headOf({ method, url, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1]}`] : []));
  return `${[`${method} ${url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
}
