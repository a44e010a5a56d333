import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeSpans, type ReceivedSpan } from './otlp.ts';
import { until } from './until.ts';

export interface Collector extends AsyncDisposable {
  readonly url: string;
  /** In the order in which they came; a span that came twice is there twice. */
  readonly spans: ReceivedSpan[];
  readonly requests: { path: string; headers: Readonly<Record<string, unknown>> }[];
  /** Spans of a trace by id, when its root has come and so many in all. */
  trace(trace_id: string, count?: number): Promise<Map<string, ReceivedSpan>>;
}

/** A collector of OTLP over HTTP. `answers: false`: it accepts requests and never answers. */
export async function collector({ answers = true } = {}): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const requests: Collector['requests'] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push({ path: request.url ?? '', headers: request.headers });
    spans.push(...decodeSpans(Buffer.concat(chunks), String(request.headers['content-type'])));
    if (answers) response.writeHead(200).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    async trace(trace_id, count = 1) {
      const ofTrace = () => spans.filter((span) => span.trace_id === trace_id);
      const byId = () => new Map(ofTrace().map((span) => [span.span_id, span]));
      const isWhole = () =>
        byId().size >= count && ofTrace().some(({ name }) => name.startsWith('invoke_agent'));
      await until(`the trace ${trace_id} has come`, isWhole);
      return byId();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
