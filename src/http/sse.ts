import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NotFound, ServerError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { every } from '../core/timers.ts';
import type { Frame } from '../events/frame.ts';
import type { CallerWatch } from './caller-watch.ts';
import type { Connections } from './connections.ts';

/** Contract §5. `X-Accel-Buffering` disables response buffering in nginx. */
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
};

/** CRLF for run streams, like the official Python server; LF for event streaming, like the JavaScript server. */
type LineEnd = '\r\n' | '\n';

/** The SDK considers a stream dead after three missed heartbeats (contract §5). */
const HEARTBEAT_MS = 5_000;

/**
 * How long a closing server waits for the first event of a stream, ms. A client that has the id of no event cannot say
 * where it reconnects, and would miss those until then.
 */
const FIRST_EVENT_MS = 4_000;

/** Send buffer of one client, bytes; beyond it, the client is served from the log at its own pace. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

export interface EventStream {
  readonly headers: Readonly<Record<string, string>>;
  /** Whether to send event ids: only a run with stored events can be resumed. */
  readonly resumable: boolean;
  /** Encodes an event for another protocol. */
  readonly encode?: (frame: Frame, resumable: boolean) => string;
  /** Last event for a caller that loses access while reading, in another protocol. */
  readonly refusal?: (error: ServerError) => Frame;
  /** Called before the headers are sent, so that a failure still has its own status. */
  readonly frames: (signal: AbortSignal) => AsyncIterable<Frame> | Promise<AsyncIterable<Frame>>;
}

/** Resolves when the stream ends. Calls `onDisconnect` if the client disconnects first. */
export type SendEvents = (
  reply: FastifyReply,
  stream: EventStream,
  onDisconnect?: () => Promise<void>,
) => Promise<void>;

/** Back-pressure: pulls a frame only when the previous one is written, so that a slow reader costs no memory. */
export function eventSender(
  connections: Connections,
  callers: CallerWatch,
  logger: Logger,
  heartbeat_ms = HEARTBEAT_MS,
): SendEvents {
  return async (reply, { headers, resumable, frames: open, ...protocol }, onDisconnect) => {
    const { encode = formatEvent, refusal = refusalEvent } = protocol;
    let hasSent = false;
    const closingMs = () => (resumable && !hasSent ? FIRST_EVENT_MS : 0);
    using connection = connections.open(reply, onDisconnect, closingMs);
    const frames = await open(connection.signal);
    using _heartbeat = beginStream(reply, headers, { lineEnd: '\r\n', heartbeat_ms });
    using _watch = callers.watch(reply.request, connection.end);
    const { raw } = reply;
    try {
      const encoded = (frame: Frame) => {
        hasSent = true;
        return encode(frame, resumable);
      };
      await pump(raw, frames, encoded, connection.signal);
      finish(raw, connection.signal, (error) => encode(refusal(error), false));
    } catch (error) {
      logger.error('stream aborted', { request_id: reply.request.id, error });
      raw.destroy();
    }
  };
}

/** Push-based event stream: the producer does not wait for the client. */
export interface FrameSink {
  send(frame: Frame): void;
  /** Whether the send buffer is full; further events should come from the log. */
  isFull(): boolean;
  /** Resolves when the send buffer has drained, or on abort. */
  drained(signal: AbortSignal): Promise<void>;
}

/** Resolves when the client disconnects, the server closes, or `write` ends. */
export type PushEvents = (
  reply: FastifyReply,
  write: (sink: FrameSink, signal: AbortSignal) => Promise<void>,
  /** Last event for a caller that loses access while reading. */
  refusal: (error: ServerError) => Frame,
) => Promise<void>;

/** For unbounded streams: ends by cutting the connection, which makes the client reconnect. */
export function eventPusher(connections: Connections, callers: CallerWatch, logger: Logger): PushEvents {
  return async (reply, write, refusal) => {
    using connection = connections.open(reply);
    using _heartbeat = beginStream(reply, {}, { lineEnd: '\n', heartbeat_ms: HEARTBEAT_MS });
    using _watch = callers.watch(reply.request, connection.end);
    const { raw } = reply;
    const sink: FrameSink = {
      // Some parsers of this protocol split events at `\n\n` only.
      send: (frame) => raw.write(formatEvent(frame, true, '\n')),
      isFull: () => raw.writableLength > MAX_BUFFERED_BYTES,
      drained: async (signal) => {
        if (raw.writableNeedDrain) await drained(raw, signal);
      },
    };
    await write(sink, connection.signal).catch((error: unknown) =>
      logger.error('stream aborted', { request_id: reply.request.id, error }),
    );
    const isRefused = connection.signal.reason instanceof ServerError;
    if (isRefused) finish(raw, connection.signal, (error) => formatEvent(refusal(error), false, '\n'));
    else raw.destroy();
  };
}

/** Bypasses Fastify's reply: sends the headers now, including those that plugins such as CORS have set. */
function beginStream(
  reply: FastifyReply,
  headers: Readonly<Record<string, string>>,
  { lineEnd, heartbeat_ms }: { lineEnd: LineEnd; heartbeat_ms: number },
): Disposable {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers, ...HEADERS });
  const heartbeat = `: heartbeat${lineEnd}${lineEnd}`;
  raw.write(heartbeat);
  return every(heartbeat_ms, () => {
    if (!raw.writableNeedDrain) raw.write(heartbeat);
  });
}

async function pump(
  raw: ServerResponse,
  frames: AsyncIterable<Frame>,
  encode: (frame: Frame) => string,
  signal: AbortSignal,
): Promise<void> {
  const chunks = new ChunkWriter(raw);
  for await (const frame of frames) {
    if (signal.aborted) break;
    chunks.write(encode(frame));
    if (raw.writableNeedDrain) await drained(raw, signal);
  }
  chunks.flush();
}

/** Ends the response, with the error for a caller that lost access. */
function finish(raw: ServerResponse, signal: AbortSignal, refusal: (error: ServerError) => string): void {
  const { reason } = signal;
  // A client that does not read would keep the connection open.
  if (reason instanceof ServerError && !raw.writableNeedDrain) raw.end(refusal(reason));
  // A clean end would signal the end of the run; a broken connection makes the client reconnect.
  else if (signal.aborted) raw.destroy();
  else raw.end();
}

function refusalEvent({ status, message }: ServerError): Frame {
  return {
    seq: 0,
    event: 'error',
    data: JSON.stringify({ error: 'HTTPException', message: `${status}: ${message}` }),
  };
}

/** Length at which buffered text is sent at once, characters. */
const MAX_CHUNK = 16 * 1024;

/**
 * Sends everything written in one turn of the event loop as one chunk, because each chunk costs three socket
 * writes.
 */
class ChunkWriter {
  readonly #raw: ServerResponse;
  #text = '';
  #isScheduled = false;
  #isFirst = true;

  constructor(raw: ServerResponse) {
    this.#raw = raw;
  }

  write(text: string): void {
    this.#text += text;
    if (this.#isFirst || this.#text.length >= MAX_CHUNK) this.flush();
    else this.#flushAfterTurn();
  }

  #flushAfterTurn(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Runs once the promises of this turn are settled: until then, more frames may come.
    process.nextTick(() => {
      this.#isScheduled = false;
      this.flush();
    });
  }

  flush(): void {
    if (this.#text === '') return;
    this.#raw.write(this.#text);
    this.#text = '';
    // Node corks the first write until the next tick, and a starting graph occupies the loop for milliseconds.
    if (this.#isFirst) this.#raw.socket?.uncork();
    this.#isFirst = false;
  }
}

/** Resolves on `drain`, or on abort. */
function drained(raw: ServerResponse, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      raw.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    raw.once('drain', done);
    signal.addEventListener('abort', done, { once: true });
  });
}

/** Parses `Last-Event-ID`: resume after that id, from the start, or with new events only (contract §5). */
export function parseLastEventId(last_event_id: string | undefined): number | 'now' {
  const text = last_event_id ?? '';
  if (['-1', '-', '0', '0-0'].includes(text)) return 0;
  return /^\d{1,15}$/.test(text) ? Number(text) : 'now';
}

/** Formats one server-sent event (contract §5). */
function formatEvent({ seq, event, data }: Frame, resumable: boolean, lineEnd: LineEnd = '\r\n'): string {
  const name = event.replace(/[\r\n]/g, '');
  const lines = [`event: ${name}`, `data: ${oneLine(data)}`, ...(resumable ? [`id: ${seq}`] : [])];
  return lines.join(lineEnd) + lineEnd + lineEnd;
}

/**
 * Single-line JSON for every SSE parser: some also break lines at U+0085, U+2028 and U+2029, which JSON leaves
 * unescaped.
 */
function oneLine(json: string): string {
  if (!/[\r\n\u0085\u2028\u2029]/.test(json)) return json;
  return json.replace(/[\r\n]/g, ' ').replace(/[\u0085\u2028\u2029]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Error handler of stream joins. With user rules, a missing or forbidden stream is an `error` event, as the official
 * server and its clients expect (contract §10); otherwise a plain 404.
 */
export function notFoundAsErrorEvent(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof NotFound) || request.actor.rules.length === 0) throw error;
  reply.type('text/event-stream; charset=utf-8').send(formatEvent(refusalEvent(error), false));
}
