import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { until } from './until.ts';

export interface LoadBalancer extends AsyncDisposable {
  readonly url: string;
}

/** How long a request may wait for a server that takes it, ms. */
const TRY_MS = 10_000;

/**
 * As load balancers do: each request goes to the next server; to the one after it if that does not listen. What a
 * server has taken is not sent again: the client sees its connection close.
 */
export async function loadBalancer(...urls: readonly string[]): Promise<LoadBalancer> {
  let count = 0;

  async function balance(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = asked;
    const body = await buffer(asked);
    const isDone = async () => {
      const next = count++ % urls.length;
      const outcome = await new Promise<'answered' | 'refused' | Error>((resolve) => {
        const passed = request(`${urls[next]}${url}`, { method, headers, agent: false }, (given) => {
          answer.writeHead(given.statusCode ?? 502, given.headers);
          answer.flushHeaders();
          given.pipe(answer);
          // A reply that its server breaks off must not look complete.
          given.on('error', () => answer.destroy());
          resolve('answered');
        });
        passed.on('error', (error) =>
          resolve('code' in error && error.code === 'ECONNREFUSED' ? 'refused' : error),
        );
        answer.on('close', () => passed.destroy());
        passed.end(body);
      });
      if (outcome instanceof Error) throw outcome;
      return outcome === 'answered';
    };
    await until('a server takes the request', isDone, TRY_MS);
  }

  // No client meets the end of an idle connection.
  const options = { keepAliveTimeout: 600_000 };
  const server = createServer(options, (asked, answer) => {
    balance(asked, answer).catch(() => answer.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
