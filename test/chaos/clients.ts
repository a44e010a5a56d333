import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Answer, HttpClient } from '../support/http-client.ts';
import { until } from '../support/until.ts';

/** Asks the clients in turn. A request whose connection fails goes to the next one. */
export function anyOf(current: () => readonly HttpClient[]): HttpClient {
  let asked = 0;

  async function first<T>(ask: (client: HttpClient) => Promise<T>): Promise<T> {
    const clients = current();
    const start = asked++;
    for (let tried = 1; ; tried++) {
      try {
        return await ask(clients[(start + tried) % clients.length] as HttpClient);
      } catch (error) {
        if (tried >= clients.length || !isConnectionError(error)) throw error;
      }
    }
  }

  return {
    send: (...request) => first((client) => client.send(...request)),
    call: (...request) => first((client) => client.call(...request)),
    stream: (...request) => first((client) => client.stream(...request)),
    [Symbol.dispose]: () => {},
  };
}

export function isConnectionError(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}

/** As a client does that was told to try again: the same request with the same key. Every answer, the last one whole. */
export async function insist(
  http: HttpClient,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ statuses: number[]; answer: Answer }> {
  const headers = { 'idempotency-key': randomUUID() };
  const statuses: number[] = [];
  for (;;) {
    const answer = await http.send(method, path, { body, headers });
    statuses.push(answer.status);
    if (answer.status !== 503) return { statuses, answer };
  }
}

/** Resolves as soon as a server listens there, which may be before it says that it is ready. */
export function untilPortAnswers(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  return until(`${url} answers`, async () => {
    const socket = connect(Number(port), hostname);
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  });
}
