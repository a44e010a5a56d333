import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../core/logger.ts';
import { every } from '../core/timers.ts';

/** Between two looks, ms: clients that read have taken what was sent to thousands of them at once. */
const LOOK_EVERY_MS = 1_000;

/** What is held for a client that has not taken it yet. */
interface Unread {
  readonly bytes: number;
  /** Bytes that its connection has taken before. */
  readonly taken: number;
  /** Looks since it took any. */
  readonly looks: number;
}

/**
 * Closes connections whose clients do not read when the answers and events held for all of them exceed `budget` bytes:
 * those first that have held the most for the longest time. The limits of single streams bound each of them, not their
 * sum. Dispose it to stop it.
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

  /** Returns the bytes held for all. */
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
    logger.warn('closed connections whose clients do not read: server.send_budget was used up', {
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
  /** Between two looks, ms. */
  readonly every_ms?: number;
}
