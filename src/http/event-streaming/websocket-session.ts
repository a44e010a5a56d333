import type { Actor } from '../../auth/actor.ts';
import { ServerError } from '../../core/errors.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import { isLastingRefusal } from '../../core/failure-class.ts';
import { isObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import { every } from '../../core/timers.ts';
import type { ProtocolError } from '../../schemas/event-streaming.ts';
import { toProtocolError } from '../../services/event-streaming/command-errors.ts';
import { badEnvelope, type EventStreamingService } from '../../services/event-streaming/event-streaming.ts';
import type { EventSink } from '../../services/event-streaming/subscriber.ts';
import { AUTHENTICATE_EVERY_MS } from '../caller-watch.ts';
import type { RequestBodies } from '../request-bodies.ts';
import type { ParsedJson } from '../secure-json.ts';
import { disconnectIfSilent, type Pingable } from './liveness.ts';
import { type Pausable, ReceiveWindow } from './receive-window.ts';

/** Send buffer of one client, bytes; beyond it, the client is served from the log at its own pace. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** Clients read close code 4000 + n as HTTP status n (contract §7 WebSocket). */
const STATUS_CODE_BASE = 4000;
/** A close reason may have 123 bytes; a truncated character may take two more than the cut. */
const MAX_REASON_BYTES = 120;
const INTERNAL_ERROR = 1011;

/** The subset of the `ws` socket in use. */
export interface Socket extends Pausable, Pingable {
  send(text: string, onWritten?: (error?: Error | null) => void): void;
  close(code: number, reason?: string): void;
  on(event: 'close' | 'error', listener: () => void): void;
  on(event: 'message', listener: (data: Buffer) => void): void;
}

export interface SessionDeps {
  readonly eventStreaming: EventStreamingService;
  /** Re-authenticates the caller; rejects as for a request. */
  readonly authenticate: () => Promise<Actor>;
  /** Interval of re-authentication without commands, ms. */
  readonly authenticate_every_ms?: number | undefined;
  /** Interval of pings, ms. */
  readonly ping_every_ms?: number | undefined;
  /** Counts a command as a request; rejects beyond the rate limit. */
  readonly count: () => Promise<void>;
  readonly logger: Logger;
  readonly bodies: Pick<RequestBodies, 'json' | 'count'>;
}

/** Closes with the close code for an HTTP status. */
export function closeWithStatus(socket: Socket, status: number, reason = ''): void {
  socket.close(STATUS_CODE_BASE + status, Buffer.from(reason).subarray(0, MAX_REASON_BYTES).toString());
}

/**
 * Executes commands sequentially in order of arrival; events interleave with the answers. A subscription,
 * answered after its replay, does not block the next command (head-of-line blocking). A command stays in the
 * window until its answer is written, so that back-pressure also covers a client that does not read. Each
 * command is authenticated like a request; the socket is closed once the caller loses access.
 */
export function runSession(socket: Socket, actor: Actor, thread_id: string, deps: SessionDeps): void {
  const { eventStreaming, logger, bodies } = deps;
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  disconnectIfSilent(socket, gone.signal, deps.ping_every_ms);
  const send = sender(socket);
  const opening = eventStreaming.connect(actor, thread_id, sinkOf(socket, send), gone.signal);
  const checkCaller = callerCheck(deps, gone.signal, refuse);
  const window = new ReceiveWindow(socket);
  let isOver = false;
  let turn = Promise.resolve();

  async function execute(message: Message, release: () => void): Promise<void> {
    using _counted = message.counted;
    const connection = await opening.catch(() => undefined);
    if (!connection) return release();
    // Commands that need no I/O are answered within one turn of the event loop: a flood of them would starve
    // other clients.
    await yieldToEventLoop();
    const command = message.refused ? message : await commandIn(message.text, bodies.json);
    const caller = await checkCaller();
    if (!caller) return release();
    const response = answerTo(connection, command, caller)
      // Release the bytes before the answer is written: a client that does not read holds only the answer.
      .finally(() => message.counted?.[Symbol.dispose]())
      .then((answer) => (gone.signal.aborted ? undefined : send(JSON.stringify(answer))))
      .catch(fail)
      .finally(release);
    if (!('value' in command && isSubscription(command.value))) await response;
  }

  function fail(error: unknown): void {
    logger.error('command aborted', { error });
    socket.close(INTERNAL_ERROR, 'thread stream ended');
    end();
  }

  function refuse({ status, message }: ServerError): void {
    closeWithStatus(socket, status, message);
    gone.abort();
    end();
  }

  /** Discards further messages: the client's close frame is behind them. */
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

/**
 * A client message, counted against the body budget; or the error for one over the limit, whose text is
 * dropped.
 */
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

/** Reads the id by regex, where clients write it first: a refused message is not parsed. */
function idOf(data: Buffer): number | null {
  const [, id] = /^\s*\{\s*"id"\s*:\s*(\d{1,15})\s*,/.exec(data.toString('latin1', 0, 100)) ?? [];
  return id === undefined ? null : Number(id);
}

async function answerTo(
  connection: Connection,
  command: ParsedJson | { readonly refused: ProtocolError },
  caller: Actor | ServerError,
): Promise<object> {
  if ('refused' in command) return command.refused;
  if ('problem' in command) return badEnvelope(null, command.problem);
  if (!(caller instanceof ServerError)) return connection.command(command.value, caller);
  const id = isObject(command.value) ? command.value['id'] : undefined;
  return toProtocolError(Number.isInteger(id) ? (id as number) : null, caller) as ProtocolError;
}

/**
 * Re-authenticates the caller periodically until abort, and whenever the returned function is called before a
 * command. That resolves to the caller, to the reason why the command cannot be executed now, or to `undefined`
 * once the caller has lost access.
 */
function callerCheck(
  { authenticate, authenticate_every_ms = AUTHENTICATE_EVERY_MS, count, logger }: SessionDeps,
  signal: AbortSignal,
  refuse: (error: ServerError) => void,
): () => Promise<Actor | ServerError | undefined> {
  async function unlessRefused(identify: () => Promise<Actor>) {
    try {
      return await identify();
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      return isLastingRefusal(error) ? void refuse(error) : error;
    }
  }

  const timer = every(authenticate_every_ms, () => {
    unlessRefused(authenticate).catch((error: unknown) => logger.error('authentication failed', { error }));
  }).unref();
  signal.addEventListener('abort', () => timer[Symbol.dispose](), { once: true });
  return () =>
    unlessRefused(async () => {
      const caller = await authenticate();
      await count();
      return caller;
    });
}

/** Sends a message. Resolves when the kernel has accepted it, or the socket is closed. */
type Send = (text: string) => Promise<void>;

function sender(socket: Socket): Send {
  return (text) => new Promise((resolve) => socket.send(text, () => resolve()));
}

/** Resolves when the socket is closed. */
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

function sinkOf(socket: Socket, send: Send): EventSink {
  let written = Promise.resolve();
  return {
    send({ text }) {
      written = send(text);
    },
    isFull: () => socket.bufferedAmount > MAX_BUFFERED_BYTES,
    // Sends are ordered: the last one sent is the last one written.
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
