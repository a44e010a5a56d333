import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Cuts connections on which no whole request has come when the server closes. Node waits for them as for those that
 * are being answered: half a minute for one that says nothing, such as a browser opens ahead, and longer for a body that
 * comes slowly.
 */
export function cutHalfRequestsOnClose(server: FastifyInstance): void {
  const asked = new Map<Socket, IncomingMessage | undefined>();
  let isClosing = false;
  server.server.on('connection', (socket) => {
    asked.set(socket, undefined);
    socket.once('close', () => asked.delete(socket));
  });
  server.server.on('request', (request, response) => {
    const { socket } = request;
    asked.set(socket, request);
    response.once('close', () => {
      if (asked.get(socket) !== request) return;
      asked.set(socket, undefined);
      // The next one may have begun.
      if (isClosing) socket.destroySoon();
    });
  });
  // It says goodbye in its own way.
  server.server.on('upgrade', ({ socket }) => asked.delete(socket));
  server.addHook('preClose', async () => {
    isClosing = true;
    for (const [socket, request] of asked) {
      if (!request?.complete) socket.destroy();
    }
  });
}
