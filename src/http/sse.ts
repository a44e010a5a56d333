import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { NotFound } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { every } from '../core/timers.ts';
import type { Frame } from '../events/frame.ts';
import type { Connections } from './connections.ts';

/** CONTRACT §5. `X-Accel-Buffering` keeps nginx from holding events back. */
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
};

/** Events of runs end their lines as the official Python server's do, event streaming as the JavaScript server's. */
type LineEnd = '\r\n' | '\n';

/** The SDK takes a stream for dead after three missing ones (CONTRACT §5). */
const HEARTBEAT_MS = 5_000;

/** What one client may have waiting for it; then it reads the log at its own pace. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

export interface EventStream {
  readonly headers: Readonly<Record<string, string>>;
  /** Ids let a client resume; only a run that keeps its events has them. */
  readonly resumable: boolean;
  /** The bytes of an event for clients of another protocol. */
  readonly encode?: (frame: Frame) => string;
  /** Called before the headers are sent, so that what it throws still has a status of its own. */
  readonly frames: (signal: AbortSignal) => AsyncIterable<Frame> | Promise<AsyncIterable<Frame>>;
}

/** Resolves when the stream has ended. `onDisconnect` is called when the client leaves before that. */
export type SendEvents = (
  reply: FastifyReply,
  stream: EventStream,
  onDisconnect?: () => Promise<void>,
) => Promise<void>;

/** A frame is asked for only when the one before has left, so that a slow reader costs no memory. */
export function eventSender(
  connections: Connections,
  logger: Logger,
  heartbeat_ms = HEARTBEAT_MS,
): SendEvents {
  return async (reply, { headers, resumable, frames: open, encode }, onDisconnect) => {
    using connection = connections.open(reply, onDisconnect);
    const frames = await open(connection.signal);
    using _heartbeat = beginStream(reply, headers, { lineEnd: '\r\n', heartbeat_ms });
    const { raw } = reply;
    try {
      await pump(raw, frames, encode ?? ((frame) => formatEvent(frame, resumable)), connection.signal);
    } catch (error) {
      logger.error('stream aborted', { request_id: reply.request.id, error });
      raw.destroy();
    }
  };
}

/** An event stream that is written to by somebody who does not wait for its client. */
export interface FrameSink {
  send(frame: Frame): void;
  /** The client is so far behind that its events should not be kept in memory for it. */
  isFull(): boolean;
  /** Resolves when the client has caught up, or on abort. */
  drained(signal: AbortSignal): Promise<void>;
}

/** Resolves when the stream has ended: with its client, with the server, or with `write`. */
export type PushEvents = (
  reply: FastifyReply,
  write: (sink: FrameSink, signal: AbortSignal) => Promise<void>,
) => Promise<void>;

/** For streams without an end of their own: the connection is cut, which makes a client come back. */
export function eventPusher(connections: Connections, logger: Logger): PushEvents {
  return async (reply, write) => {
    using connection = connections.open(reply);
    using _heartbeat = beginStream(reply, {}, { lineEnd: '\n', heartbeat_ms: HEARTBEAT_MS });
    const { raw } = reply;
    const sink: FrameSink = {
      // Readers of this protocol that split at an empty line know only the short one.
      send: (frame) => raw.write(formatEvent(frame, true, '\n')),
      isFull: () => raw.writableLength > MAX_BUFFERED_BYTES,
      drained: async (signal) => {
        if (raw.writableNeedDrain) await drained(raw, signal);
      },
    };
    await write(sink, connection.signal).catch((error: unknown) =>
      logger.error('stream aborted', { request_id: reply.request.id, error }),
    );
    raw.destroy();
  };
}

/** Past the framework: the headers leave now, and they include those of its plugins, such as CORS. */
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
  let isFirst = true;
  for await (const frame of frames) {
    if (signal.aborted) break;
    const isFlowing = raw.write(encode(frame));
    // Node holds it back until the code that runs pauses, and a graph that starts does not for milliseconds.
    if (isFirst) raw.socket?.uncork();
    isFirst = false;
    if (!isFlowing) await drained(raw, signal);
  }
  // A clean end would tell the client that the run is over; a broken one makes it connect again.
  if (signal.aborted) raw.destroy();
  else raw.end();
}

/** Resolves when the client has read what was written, or on abort. */
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

/** Where a client wants to go on: after the id it saw last, from the start, or with what comes (CONTRACT §5). */
export function parseLastEventId(last_event_id: string | undefined): number | 'now' {
  const text = last_event_id ?? '';
  if (['-1', '-', '0', '0-0'].includes(text)) return 0;
  return /^\d{1,15}$/.test(text) ? Number(text) : 'now';
}

/** The bytes of one event (CONTRACT §5). */
function formatEvent({ seq, event, data }: Frame, resumable: boolean, lineEnd: LineEnd = '\r\n'): string {
  const name = event.replace(/[\r\n]/g, '');
  const lines = [`event: ${name}`, `data: ${oneLine(data)}`, ...(resumable ? [`id: ${seq}`] : [])];
  return lines.join(lineEnd) + lineEnd + lineEnd;
}

/**
 * JSON text on one line for every reader: some clients also break lines at U+0085, U+2028 and U+2029, which JSON
 * leaves as they are and where an escape means the same.
 */
function oneLine(json: string): string {
  if (!/[\r\n\u0085\u2028\u2029]/.test(json)) return json;
  return json.replace(/[\r\n]/g, ' ').replace(/[\u0085\u2028\u2029]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * An error handler for routes that join a stream. Where users have rules, a stream that is not there or not theirs is
 * an `error` event, as the official server and its clients have it (CONTRACT §10); else a plain 404.
 */
export function notFoundAsErrorEvent(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (!(error instanceof NotFound) || request.actor.rules.length === 0) throw error;
  const data = JSON.stringify({ error: 'HTTPException', message: `${error.status}: ${error.message}` });
  reply.type('text/event-stream; charset=utf-8').send(`event: error\r\ndata: ${data}\r\n\r\n`);
}
