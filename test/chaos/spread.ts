import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** One address for several servers: each new connection goes to the next of them, and breaks when theirs does. */
export async function spread(
  ...urls: readonly string[]
): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  let count = 0;
  const listener = createServer((client) => {
    const { hostname, port } = new URL(urls[count++ % urls.length] as string);
    const server = connect(Number(port), hostname);
    const destroy = () => {
      for (const socket of [client, server]) sockets.delete(socket.destroy());
    };
    for (const socket of [client, server]) sockets.add(socket.on('error', () => {}).on('close', destroy));
    client.pipe(server).pipe(client);
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
