import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { until } from './until.ts';

export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  /** As it came. */
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** Signs the webhooks of tests. */
export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** The environment of a server that signs its webhooks and may call this machine. */
export const TO_RECEIVER = {
  LANGGRAPH_WEBHOOKS: JSON.stringify({ secret: SECRET, url: { disable_loopback: false } }),
};

/** What a receiver does with a request: a status, or whatever it likes. */
type Answer = number | ((request: IncomingMessage, response: ServerResponse, received: Received) => void);

export interface Receiver extends AsyncDisposable {
  /** Of this machine, without a path. */
  readonly url: string;
  readonly received: Received[];
  /** Answers to come, in order; 200 when there are none. */
  readonly answers: Answer[];
  /** Resolves when so many requests have come. */
  came(count: number, within_ms?: number): Promise<void>;
  /** Stops listening and cuts every connection. */
  close(): Promise<void>;
}

/** Somebody who gets webhooks: a real server on this machine. `port`: one that it had before. */
export async function receiver({
  port = 0,
  onConnection,
}: {
  port?: number;
  onConnection?: (socket: Socket) => void;
} = {}): Promise<Receiver> {
  const received: Received[] = [];
  const answers: Answer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const { headers, url: path = '' } = request;
    const one = { headers: headers as Record<string, string>, path, text, body: JSON.parse(text) };
    received.push(one);
    const answer = answers.shift() ?? 200;
    if (typeof answer === 'number') response.writeHead(answer).end();
    else answer(request, response, one);
  });
  if (onConnection) server.on('connection', onConnection);
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  async function close(): Promise<void> {
    server.closeAllConnections();
    if (server.listening) await new Promise((closed) => server.close(closed));
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answers,
    came: (count, within_ms) => until(`${count} requests came`, () => received.length >= count, within_ms),
    close,
    [Symbol.asyncDispose]: close,
  };
}
