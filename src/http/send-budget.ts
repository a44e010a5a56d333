import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../core/logger.ts';
import { every } from '../core/timers.ts';

/**
 * Interval between checks, ms: within it, clients that read have received even a broadcast to thousands of
 * them.
 */
const LOOK_EVERY_MS = 1_000;

/** Data buffered for a client that has not read it yet. */
interface Unread {
  readonly bytes: number;
  /** Bytes that the connection has sent so far. */
  readonly taken: number;
  /** Checks since it last sent any. */
  readonly looks: number;
}

/**
 * Closes connections of clients that do not read when the data buffered for all of them exceeds `budget` bytes,
 * starting with those that have held the most for the longest time. Limits of single streams bound each of
 * them, not their sum. Dispose to stop.
 */
export function limitUnread(
  server: Server,
  { budget, logger, every_ms = LOOK_EVERY_MS }: SendBudgetOptions,
): Disposable {
  const sockets = new Set<Socket>();
  const unread = new Map<Socket, Unread>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      unread.delete(socket);
    });
  });

  /** Returns the total of buffered bytes. */
  function look(): number {
    let total = 0;
    for (const socket of sockets) {
      const bytes = socket.writableLength;
      total += bytes;
      if (bytes === 0) {
        unread.delete(socket);
        continue;
      }
      const taken = socket.bytesWritten - bytes;
      const before = unread.get(socket);
      unread.set(socket, { bytes, taken, looks: before?.taken === taken ? before.looks + 1 : 1 });
    }
    return total;
  }

  function closeBeyond(total: number): void {
    const longest = [...unread].sort(([, a], [, b]) => b.bytes * b.looks - a.bytes * a.looks);
    let left = total;
    let connections = 0;
    for (const [socket, { bytes }] of longest) {
      if (left <= budget) break;
      left -= bytes;
      connections += 1;
      socket.destroy();
    }
    logger.warn('closed connections of clients that do not read: server.send_budget is exhausted', {
      connections,
      bytes: total - left,
    });
  }

  return every(every_ms, () => {
    const total = look();
    if (total > budget) closeBeyond(total);
  }).unref();
}

interface SendBudgetOptions {
  /** Key `server.send_budget`. */
  readonly budget: number;
  readonly logger: Pick<Logger, 'warn'>;
  /** Interval between checks, ms. */
  readonly every_ms?: number;
}
