import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { project } from '../support/project.ts';
import { startServer } from '../support/server.ts';
import { filesOf, onlyBlock } from './blocks.ts';

const PAGE = 'docs/tracing.md';
const GREETER = `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
export const graph = new StateGraph(Annotation.Root({ name: Annotation<string>() }))
  .addNode('greet', ({ name }) => {
    if (name === 'nobody') throw new Error('Who?');
    return { name: \`Hello \${name}\` };
  })
  .addEdge(START, 'greet').addEdge('greet', END).compile();
`;

interface Traced {
  readonly metadata: Record<string, unknown>;
}

/** As much of LangSmith as its client needs: what was sent, part by part. */
async function startLangSmith() {
  const parts = new Map<string, unknown>();
  const received = Promise.withResolvers<void>();
  const keys = new Set<unknown>();
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
    keys.add(request.headers['x-api-key']);
    for (const [, name = '', json = 'null'] of text.matchAll(/name="([^"]+)"\r\n.*\r\n\r\n(.*)\r\n/g))
      parts.set(name, JSON.parse(json));
    if (parts.size > 0) received.resolve();
    response.setHeader('content-type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    parts,
    keys,
    received: received.promise,
    [Symbol.dispose]: () => void server.close().closeAllConnections(),
  };
}

/** The page's own files, with LangSmith elsewhere. */
function filesFor(endpoint: string, greeter: string): Record<string, string> {
  return {
    'agent.config.yaml': onlyBlock(PAGE, 'yaml', 'env: .env'),
    '.env': `${onlyBlock(PAGE, 'dotenv', 'LANGSMITH_TRACING')}LANGSMITH_ENDPOINT=${endpoint}\n`,
    'greeter.ts': greeter,
  };
}

test('docs/tracing.md: LangSmith gets a trace under the id of the run, with the documented data', async () => {
  using smith = await startLangSmith();
  await using folder = await project(filesFor(smith.url, GREETER));
  await using server = await startServer({ config: folder.path('agent.config.yaml') });
  const { thread_id } = await server.client.threads.create();
  const { run_id, assistant_id } = await server.client.runs.create(thread_id, 'greeter', {
    input: { name: 'Ada' },
    metadata: { customer: 'c-1' },
    config: { tags: ['vip'] },
  });
  await server.client.runs.join(thread_id, run_id);
  await smith.received;

  expect([...smith.keys]).toEqual(['lsv2_pt_0123']);
  const root = smith.parts.get(`post.${run_id}`);
  expect(root).toMatchObject({ id: run_id, trace_id: run_id, session_name: 'my-agents', tags: ['vip'] });
  const { metadata } = smith.parts.get(`post.${run_id}.extra`) as Traced;
  expect(metadata).toMatchObject({
    thread_id,
    run_id,
    assistant_id,
    graph_id: 'greeter',
    customer: 'c-1',
    run_attempt: 1,
    langgraph_request_id: expect.any(String),
  });
  const nodes = [...smith.parts].flatMap(([name, part]) =>
    name.endsWith('.extra') ? [(part as Traced).metadata['langgraph_node']] : [],
  );
  expect(nodes).toContain('greet');
});

test('docs/tracing.md: neither runs nor the shutdown wait for an unavailable LangSmith', async () => {
  await using folder = await project(filesFor(`http://127.0.0.1:${await freePort()}`, GREETER));
  await using server = await startServer({ config: folder.path('agent.config.yaml') });
  const client = new Client({ apiUrl: server.url, apiKey: null, timeoutMs: 10_000 });

  expect(await client.runs.wait(null, 'greeter', { input: { name: 'Ada' } })).toEqual({ name: 'Hello Ada' });
  expect(await server.kill('SIGTERM')).toBe(0);
});

test('docs/tracing.md: the last traces are sent before the server exits', async () => {
  using smith = await startLangSmith();
  await using folder = await project(filesFor(smith.url, GREETER));
  await using server = await startServer({ config: folder.path('agent.config.yaml') });
  const { thread_id } = await server.client.threads.create();
  const { run_id } = await server.client.runs.create(thread_id, 'greeter', { input: { name: 'Ada' } });
  await server.client.runs.join(thread_id, run_id);

  expect(await server.kill('SIGTERM')).toBe(0);
  const patched = [...smith.parts.keys()].filter((name) => name.includes(run_id));
  expect(patched).toContain(`post.${run_id}`);
});

test('docs/tracing.md: nested spans carry the ids of the run', async () => {
  const { 'src/spans.ts': spans = '', 'src/traced.ts': traced = '' } = filesOf(PAGE);
  await using folder = await project({
    'agent.config.yaml': 'graphs: { greeter: ./traced.ts:graph }',
    'agent.ts': GREETER,
    'spans.ts': spans,
    'traced.ts': `import './printer.ts';\n${traced}`,
    'printer.ts': PRINTER,
  });
  await using server = await startServer({ config: folder.path('agent.config.yaml') });
  // What graphs print are messages of the log.
  const messages: string[] = [];
  server.onLog = ({ message }) => void messages.push(message);
  const { thread_id } = await server.client.threads.create();
  const { run_id } = await server.client.runs.create(thread_id, 'greeter', { input: { name: 'Ada' } });
  await server.client.runs.join(thread_id, run_id);
  await server.client.runs.wait(null, 'greeter', { input: { name: 'nobody' } }).catch(() => {});
  const printed = messages.flatMap((message) => (message.startsWith('{"span') ? [JSON.parse(message)] : []));

  const root = printed.find(({ span }) => span === 'LangGraph');
  expect(root).toMatchObject({ attributes: { run_id, thread_id, graph_id: 'greeter' }, parent: null });
  expect(printed.find(({ span }) => span === 'greet')).toMatchObject({
    attributes: { run_id, langgraph_node: 'greet' },
    parent: root.id,
  });
  expect(printed).toContainEqual(
    expect.objectContaining({ attributes: expect.objectContaining({ exception: 'Who?' }) }),
  );
});

/** A tracer in place of an SDK, which is not among the packages here. */
const PRINTER = `import { context, trace } from '@opentelemetry/api';
let count = 0;
trace.setGlobalTracerProvider({
  getTracer: () => ({
    startSpan(name: string, { attributes = {} }: { attributes?: object } = {}, at = context.active()) {
      const id = String(++count).padStart(16, '0');
      const parent = trace.getSpanContext(at)?.spanId ?? null;
      const span = {
        spanContext: () => ({ traceId: '1'.repeat(32), spanId: id, traceFlags: 1 }),
        end: () => console.error(JSON.stringify({ span: name, id, parent, attributes })),
        recordException: ({ message }: Error) => { Object.assign(attributes, { exception: message }); },
        setStatus: () => span,
      };
      return span;
    },
  }),
} as never);
`;
