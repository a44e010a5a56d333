import type { Actor } from '../../auth/actor.ts';
import { InvalidInput, ServerError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import { badEnvelope, type EventStreamingService } from '../../services/event-streaming/event-streaming.ts';
import type { EventSink } from '../../services/event-streaming/subscriber.ts';
import { safeJson } from '../safe-json.ts';

/** What one client may have waiting for it; then it reads the log at its own pace. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Clients read 4000 + an HTTP status as that status (CONTRACT §7 WebSocket). */
const AS_STATUS = 4000;
/** The protocol allows 123 bytes for the reason of a close; a character that is cut through may take two more. */
const MAX_REASON_BYTES = 120;
const FAILED = 1011;

/** What is used of the `ws` package's socket. */
export interface Socket {
  readonly bufferedAmount: number;
  send(text: string, onWritten?: () => void): void;
  close(code: number, reason?: string): void;
  terminate(): void;
  on(event: 'close', listener: () => void): void;
  on(event: 'message', listener: (data: Buffer) => void): void;
}

/** Closes with an HTTP status as clients read it. */
export function refuse(socket: Socket, status: number, reason = ''): void {
  socket.close(AS_STATUS + status, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString());
}

/**
 * Commands are carried out one after the other, as they come; events flow between the answers. Only a subscription,
 * which is answered after its replay, does not hold up what comes next.
 */
export function converse(
  socket: Socket,
  actor: Actor,
  thread_id: string,
  eventStreaming: EventStreamingService,
  logger: Logger,
): void {
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  const opening = eventStreaming.connect(actor, thread_id, sinkOf(socket), gone.signal);
  let turn = Promise.resolve();
  socket.on('message', (data) => {
    turn = turn.then(async () => {
      const connection = await opening.catch(() => undefined);
      if (!connection) return;
      const command = commandIn(String(data));
      const answered = Promise.resolve(
        'problem' in command ? badEnvelope(null, command.problem) : connection.command(command.value),
      ).then((answer) => {
        if (!gone.signal.aborted) socket.send(JSON.stringify(answer));
      });
      if (!('value' in command && isSubscription(command.value))) await answered;
    });
  });
  void serve(opening, socket, logger);
}

/** Resolves when the socket was closed. */
async function serve(
  opening: ReturnType<EventStreamingService['connect']>,
  socket: Socket,
  logger: Logger,
): Promise<void> {
  try {
    await (await opening).served;
    socket.close(FAILED, 'thread stream ended');
  } catch (error) {
    if (error instanceof ServerError) return refuse(socket, error.status, error.message);
    logger.error('stream broke off', { error });
    socket.close(FAILED, 'thread stream ended');
  }
}

function sinkOf(socket: Socket): EventSink {
  let written = Promise.resolve();
  return {
    send({ text }) {
      written = new Promise((resolve) => socket.send(text, () => resolve()));
    },
    isFull: () => socket.bufferedAmount > MAX_WAITING_BYTES,
    // The last one that was sent is the last one that leaves; on a socket that is gone its callback is called too.
    drained: () => written,
  };
}

function commandIn(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return safeJson(text) ?? { problem: 'Protocol commands must be valid JSON.' };
  } catch (error) {
    if (error instanceof InvalidInput) return { problem: error.message };
    throw error;
  }
}

function isSubscription(command: unknown): boolean {
  return isObject(command) && /^subscription\.(subscribe|reconnect)$/.test(String(command['method']));
}
