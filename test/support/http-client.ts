import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { type SseEvent, sseEvents } from './sse.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined for an empty body. */
  readonly body: unknown;
}

export interface EventAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Leaving the loop before its end closes the connection. */
  readonly events: AsyncGenerator<SseEvent, void, void>;
}

interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The plainest client there is: what it costs must not hide what the server costs. */
export interface HttpClient extends Disposable {
  /** Any status; rejects only when the connection fails. */
  send(method: string, path: string, sent?: Sent): Promise<Answer>;
  /** Like `send`; rejects when the status is not 2xx. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Opens an event stream. */
  stream(method: string, path: string, sent?: Sent): Promise<EventAnswer>;
}

/** Speaks to the server at `url` over kept connections, `connections` of them at most. */
export function httpClient(url: string, { connections = 256 } = {}): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });

  function open(method: string, path: string, { body, headers }: Sent): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const type = text === undefined ? {} : { 'content-type': 'application/json' };
      const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) };
      request(url + path, { method, agent, headers: { ...type, ...length, ...headers } })
        .on('response', (response) => resolve(response.setEncoding('utf8')))
        .on('error', reject)
        .end(text);
    });
  }

  const client: HttpClient = {
    async send(method, path, sent = {}) {
      const response = await open(method, path, sent);
      let text = '';
      for await (const chunk of response) text += chunk;
      const body: unknown = text.trim() === '' ? undefined : JSON.parse(text);
      return { status: response.statusCode ?? 0, headers: response.headers, body };
    },

    async call<T>(method: string, path: string, body?: unknown) {
      const answer = await client.send(method, path, { body });
      if (answer.status >= 300) {
        throw new Error(`${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
      }
      return answer.body as T;
    },

    async stream(method, path, sent = {}) {
      const response = await open(method, path, sent);
      return { status: response.statusCode ?? 0, headers: response.headers, events: sseEvents(response) };
    },

    [Symbol.dispose]: () => agent.destroy(),
  };
  return client;
}
