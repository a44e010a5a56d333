import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../core/logger.ts';
import { every } from '../core/timers.ts';

/** Time without progress after which a client counts as stalled, ms: `send_timeout` of nginx. */
const STALLED_MS = 60_000;

interface StalledOptions {
  readonly logger: Logger;
  readonly stalled_ms?: number;
}

/**
 * Closes connections whose clients take nothing of what waits for them for once or twice `stalled_ms`. One that reads,
 * however slowly, is never closed. For WebSockets see `closeIfStalled`. Dispose to stop.
 */
export function closeStalled(server: Server, options: StalledOptions): Disposable {
  const { stalled_ms = STALLED_MS } = options;
  const sockets = new Set<Socket>();
  const onTimeout = (socket: Socket) => close(socket, options);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  // Without a listener, Node would close the connection of a slow response.
  server.prependListener('request', (_request, response) => response.on('timeout', onTimeout));
  // Not for every response from its start: each of its writes would restart the time-out. It ends with the response.
  return every(stalled_ms, () => {
    for (const socket of sockets)
      if (socket.writableLength > 0 && !socket.timeout) socket.setTimeout(stalled_ms);
  }).unref();
}

/** The same for one connection that is no longer used for HTTP. */
export function closeIfStalled(socket: Socket, options: StalledOptions): void {
  socket.setTimeout(options.stalled_ms ?? STALLED_MS, () => close(socket, options));
}

/** Node restarts the time-out whenever the system takes a part of a write; idle connections have nothing to take. */
function close(socket: Socket, { logger }: StalledOptions): void {
  const bytes = socket.writableLength;
  if (bytes === 0) return;
  logger.warn('closed the connection of a client that does not read', { bytes });
  socket.destroy();
}
