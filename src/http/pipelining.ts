import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Exchange = readonly [IncomingMessage, ServerResponse];

/** Waiting requests per connection before reading pauses; while paused, a disconnect is noticed later. */
const MAX_WAITING = 100;

/**
 * Handles the pipelined requests of a connection one after another, each in its own turn of the event loop: a
 * packet may hold thousands, and other connections would wait for all of them. Stops reading from a connection
 * while many of its requests wait (back-pressure).
 */
export function handleInOrder(server: Server): void {
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  /** Requests queued behind the active one, by connection. */
  const waiting = new Map<Socket, Exchange[]>();

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    response.once('close', () => endExchange(socket));
    for (const listener of listeners) listener.call(server, request, response);
  }

  function endExchange(socket: Socket): void {
    // Node has destroyed the requests of a lost connection.
    if (socket.destroyed || waiting.get(socket)?.length === 0) waiting.delete(socket);
    else setImmediate(() => handleNext(socket));
  }

  function handleNext(socket: Socket): void {
    const next = waiting.get(socket)?.shift();
    if (!next) return;
    // Node itself keeps the socket paused if the client does not read.
    if (!isFull(socket)) socket.resume();
    handle(...next);
  }

  const isFull = (socket: Socket) => (waiting.get(socket)?.length ?? 0) >= MAX_WAITING;

  server.on('connection', (socket: Socket) => {
    // Node resumes the socket after each message, and for each body that is read.
    socket.on('resume', () => {
      if (isFull(socket)) socket.pause();
    });
    omitStackTraces(socket, () => waiting.get(socket)?.length ?? 0);
    socket.once('close', () => waiting.delete(socket));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const others = waiting.get(socket);
    if (!others) {
      waiting.set(socket, []);
      handle(request, response);
      return;
    }
    others.push([request, response]);
    if (isFull(socket)) socket.pause();
  });
}

/**
 * Turns stack traces off while Node ends the waiting requests of a lost connection. It makes an error for each, and the
 * traces took most of the time: 100 connections that were lost with 2,000 requests each blocked the event loop for 2 s, on
 * a busy machine for 11.
 */
function omitStackTraces(socket: Socket, countWaiting: () => number): void {
  let limit: number | undefined;
  // Before the listener of Node.
  socket.prependOnceListener('close', () => {
    if (countWaiting() === 0) return;
    limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
  });
  socket.once('close', () => {
    if (limit !== undefined) Error.stackTraceLimit = limit;
  });
}
