import type { Actor } from '../../auth/actor.ts';
import { ServerError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import type { ProtocolError } from '../../schemas/event-streaming.ts';
import { toProtocolError } from '../../services/event-streaming/command-errors.ts';
import { badEnvelope, type EventStreamingService } from '../../services/event-streaming/event-streaming.ts';
import type { EventSink } from '../../services/event-streaming/subscriber.ts';
import type { RequestBodies } from '../request-bodies.ts';
import type { ParsedJson } from '../secure-json.ts';
import { type Pausable, ReceiveWindow } from './receive-window.ts';

/** What one client may have waiting for it; then it reads the log at its own pace. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** Clients read 4000 + an HTTP status as that status (CONTRACT §7 WebSocket). */
const STATUS_CODE_BASE = 4000;
/** The protocol allows 123 bytes for the reason of a close; a character that is cut through may take two more. */
const MAX_REASON_BYTES = 120;
const INTERNAL_ERROR = 1011;

/** What is used of the `ws` package's socket. */
export interface Socket extends Pausable {
  readonly bufferedAmount: number;
  send(text: string, onWritten?: () => void): void;
  close(code: number, reason?: string): void;
  terminate(): void;
  on(event: 'close', listener: () => void): void;
  on(event: 'message', listener: (data: Buffer) => void): void;
}

export interface SessionDeps {
  readonly eventStreaming: EventStreamingService;
  readonly logger: Logger;
  readonly bodies: Pick<RequestBodies, 'json' | 'count'>;
}

/** Closes with an HTTP status as clients read it. */
export function closeWithStatus(socket: Socket, status: number, reason = ''): void {
  socket.close(STATUS_CODE_BASE + status, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString());
}

/**
 * Commands are carried out one after the other, as they come; events flow between the answers. Only a subscription,
 * which is answered after its replay, does not hold up what comes next. A command waits until its answer has left, so
 * that the window holds back who does not read answers, too.
 */
export function runSession(
  socket: Socket,
  actor: Actor,
  thread_id: string,
  { eventStreaming, logger, bodies }: SessionDeps,
): void {
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  const opening = eventStreaming.connect(actor, thread_id, sinkOf(socket), gone.signal);
  const window = new ReceiveWindow(socket);
  let isOver = false;
  let turn = Promise.resolve();

  async function execute(message: Message, release: () => void): Promise<void> {
    using _counted = message.counted;
    const connection = await opening.catch(() => undefined);
    if (!connection) return release();
    const command = message.refused ? message : await commandIn(message.text, bodies.json);
    const answered = answerTo(connection, command)
      // Before the answer has left: a client that does not read it holds no more than the answer.
      .finally(() => message.counted?.[Symbol.dispose]())
      .then((answer) => (gone.signal.aborted ? undefined : sent(socket, JSON.stringify(answer))))
      .catch(fail)
      .finally(release);
    if (!('value' in command && isSubscription(command.value))) await answered;
  }

  function fail(error: unknown): void {
    logger.error('command aborted', { error });
    socket.close(INTERNAL_ERROR, 'thread stream ended');
    end();
  }

  /** What is still to come is passed over: the client's own goodbye is behind it. */
  function end(): void {
    isOver = true;
    socket.resume();
  }

  socket.on('message', (data) => {
    if (isOver) return;
    const release = window.add(data.length);
    const message = receive(data, bodies);
    turn = turn.then(() => execute(message, release)).catch(fail);
  });
  void serve(opening, socket, logger).finally(end);
}

type Connection = Awaited<ReturnType<EventStreamingService['connect']>>;

/** What a client wrote, counted among all bodies; or the refusal of what is too much, of which nothing is kept. */
type Message =
  | { readonly text: string; readonly counted: Disposable; readonly refused?: undefined }
  | { readonly refused: ProtocolError; readonly counted?: undefined };

function receive(data: Buffer, bodies: Pick<RequestBodies, 'count'>): Message {
  try {
    return { counted: bodies.count(data.length), text: String(data) };
  } catch (error) {
    const refused = toProtocolError(idOf(data), error);
    if (refused) return { refused };
    throw error;
  }
}

/** As clients write it, in front: the rest of a message that is refused is not read. */
function idOf(data: Buffer): number | null {
  const [, id] = /^\s*\{\s*"id"\s*:\s*(\d{1,15})\s*,/.exec(data.toString('latin1', 0, 100)) ?? [];
  return id === undefined ? null : Number(id);
}

async function answerTo(
  connection: Connection,
  command: ParsedJson | { readonly refused: ProtocolError },
): Promise<object> {
  if ('refused' in command) return command.refused;
  return 'problem' in command ? badEnvelope(null, command.problem) : connection.command(command.value);
}

/** Resolves when the operating system has taken it; on a socket that is gone, too. */
function sent(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve) => socket.send(text, () => resolve()));
}

/** Resolves when the socket was closed. */
async function serve(
  opening: ReturnType<EventStreamingService['connect']>,
  socket: Socket,
  logger: Logger,
): Promise<void> {
  try {
    await (await opening).served;
    socket.close(INTERNAL_ERROR, 'thread stream ended');
  } catch (error) {
    if (error instanceof ServerError) return closeWithStatus(socket, error.status, error.message);
    logger.error('stream aborted', { error });
    socket.close(INTERNAL_ERROR, 'thread stream ended');
  }
}

function sinkOf(socket: Socket): EventSink {
  let written = Promise.resolve();
  return {
    send({ text }) {
      written = sent(socket, text);
    },
    isFull: () => socket.bufferedAmount > MAX_BUFFERED_BYTES,
    // The last one that was sent is the last one that leaves.
    drained: () => written,
  };
}

async function commandIn(text: string, json: RequestBodies['json']): Promise<ParsedJson> {
  try {
    const read = await json(text);
    return 'value' in read ? read : { problem: 'Protocol commands must be valid JSON.' };
  } catch (error) {
    if (error instanceof ServerError) return { problem: error.message };
    throw error;
  }
}

function isSubscription(command: unknown): boolean {
  return isObject(command) && /^subscription\.(subscribe|reconnect)$/.test(String(command['method']));
}
