import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { createServer } from '../../core/node-http.ts';
import { LOOPBACK, routeInProcess } from '../../http/in-process.ts';
import {
  endToEndHeaders,
  hasBody,
  LISTENER_OPTIONS,
  ServerRequestContext,
  sendAnswer,
  takeContext,
} from '../protocol/http.ts';
import type { Exchange } from './exchanges.ts';
import type { HostPool } from './pool.ts';

/**
 * Listens on the private socket for requests of the project's code: those of its SDK client, which count as requests of
 * this process, and those that its app forwards.
 */
export async function listenForHosts(
  server: Parameters<typeof routeInProcess>[0],
  { sockets, exchanges }: HostPool,
): Promise<AsyncDisposable> {
  const listener = createServer(LISTENER_OPTIONS, (request, response) => {
    const context = takeContext(ServerRequestContext, request, sockets.token);
    if (!context) return void response.writeHead(403).end();
    if (context.exchange === undefined) return routeInProcess(server, request, response);
    const exchange = exchanges.find(context.exchange);
    if (!exchange) return void response.writeHead(410).end();
    if (context.body === undefined) void forward(exchange, request, response);
    else sendBody(exchange, context.body, response);
  });
  listener.on('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: LOOPBACK }));
  listener.listen(sockets.server);
  await once(listener, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close');
      listener.close();
      listener.closeAllConnections();
      await closed;
    },
  };
}

async function forward(
  exchange: Exchange,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  // After the answer its connection no longer matters.
  response.once('close', () => response.writableFinished || left.abort());
  const { method = 'GET', url: path = '/', headers } = request;
  const body = hasBody(request) ? request : undefined;
  try {
    const forwarded = await exchange.forward({
      method,
      path,
      host: headers.host ?? 'localhost',
      headers: { ...endToEndHeaders(headers), ...(body && { 'transfer-encoding': 'chunked' }) },
      body,
      signal: left.signal,
    });
    sendAnswer(response, { forwarded });
  } catch {
    // The client is gone, or the app has given up.
    response.destroy();
  }
}

function sendBody(exchange: Exchange, number: number, response: ServerResponse): void {
  const body = exchange.takeBody(number);
  if (!body) return void response.writeHead(410).end();
  pipeline(body, response, () => {});
}
