import { every } from '../../core/timers.ts';

/** Interval of pings, ms. */
const PING_EVERY_MS = 30_000;
/** One pong may be late: behind events on a slow line, or while this process was blocked. */
const MAX_UNANSWERED_PINGS = 2;

/** The subset of the `ws` socket in use. */
export interface Pingable {
  readonly isPaused: boolean;
  readonly bufferedAmount: number;
  ping(): void;
  terminate(): void;
  on(event: 'message' | 'pong', listener: () => void): void;
}

/**
 * Pings the client every `every_ms` until abort, and disconnects it once it neither answers nor sends anything.
 * Otherwise a client that vanished would go unnoticed until its next event.
 */
export function disconnectIfSilent(socket: Pingable, signal: AbortSignal, every_ms = PING_EVERY_MS): void {
  let unanswered = 0;
  const hear = () => {
    unanswered = 0;
  };
  socket.on('pong', hear);
  socket.on('message', hear);
  const timer = every(every_ms, () => {
    // A paused socket would not read the pong, and a ping would queue behind buffered events.
    if (socket.isPaused || socket.bufferedAmount > 0) return hear();
    if (unanswered === MAX_UNANSWERED_PINGS) return socket.terminate();
    unanswered += 1;
    socket.ping();
  }).unref();
  signal.addEventListener('abort', () => timer[Symbol.dispose](), { once: true });
}
