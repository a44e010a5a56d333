import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const THREAD = '0197c000-0000-7000-8000-000000000001';
const RUN = '0197c000-0000-7000-8000-000000000002';
const ASSISTANT = '0197c000-0000-4000-8000-000000000003';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

interface Foreign extends AsyncDisposable {
  readonly url: string;
  /** What it was asked, such as `POST /threads`, with the key that came along. */
  readonly asked: { readonly what: string; readonly key: unknown; readonly body: string }[];
}

/** A server of somebody else, that answers as a test wants. */
export async function foreign(answer: Answer): Promise<Foreign> {
  const asked: { what: string; key: unknown; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    asked.push({ what: `${request.method} ${request.url}`, key: request.headers['x-api-key'], body });
    answer(request, response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Name and data of an event of a stream. */
export type Event = readonly [string, unknown];

interface Script {
  /** The events of each run, in their order. */
  readonly runs: readonly (readonly Event[])[];
  readonly status?: string;
  /** The connection is cut at the end of the stream. */
  readonly cut?: boolean;
  /** What the thread waits for, before the first run and after each. */
  readonly waiting?: readonly (readonly object[])[];
}

/** A server that plays runs as they are written down. */
export function playing({ runs, status = 'success', cut = false, waiting = [] }: Script): Promise<Foreign> {
  let turn = 0;
  return foreign((request, response) => {
    const json = (value: unknown) =>
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(value));
    const { method, url = '' } = request;
    if (url === '/assistants/search') return json([{ assistant_id: ASSISTANT }]);
    if (url.endsWith('/schemas')) return json({});
    if (method === 'POST' && url === '/threads') return json({ thread_id: THREAD });
    if (url.endsWith('/state')) return json({ tasks: [{ interrupts: waiting[turn] ?? [] }] });
    if (url.endsWith(`/runs/${RUN}`)) return json({ status });
    response.setHeader('Content-Type', 'text/event-stream');
    const events: Event[] = [['metadata', { run_id: RUN }], ...(runs[turn++] ?? [])];
    const text = events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('');
    if (!cut) return response.end(text);
    return response.write(text, () => setImmediate(() => response.destroy()));
  });
}
