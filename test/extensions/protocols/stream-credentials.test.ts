import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { UNRESTRICTED } from '../../../src/auth/actor.ts';
import { Forbidden, Unauthorized, Unavailable } from '../../../src/core/errors.ts';
import { mcpPlugin } from '../../../src/extensions/mcp/http/routes.ts';
import { openAiRoutes } from '../../../src/extensions/openai/routes.ts';
import { routesOver } from '../../support/a2a.ts';
import { type BareServer, bareServer } from '../../support/bare-server.ts';
import { naming } from '../../support/naming.ts';

const REVOKED = new Unauthorized('This API key was revoked');
const EVENTS = `/threads/${randomUUID()}/stream`;
const run = { run_id: randomUUID(), thread_id: randomUUID(), kwargs: { resumable: true } };

let server: BareServer;
let origin: string;
/** Answers to the checks of open streams, by key: of each the first, and the last for good. */
let answers: Record<string, (Error | undefined)[]> = {};
let abandoned = 0;
const checks: string[] = [];

async function authenticate({ headers }: { headers: Readonly<Record<string, unknown>> }) {
  const key = String(headers['x-api-key']);
  checks.push(key);
  const left = answers[key] ?? [];
  const answer = left.length > 1 ? left.shift() : left[0];
  if (answer) throw answer;
  return { ...UNRESTRICTED, key };
}

/** Frames of a run or thread that goes on. */
async function* endless(signal: AbortSignal) {
  yield { seq: 1, event: 'values', data: '{"x":1}' };
  if (!signal.aborted) await once(signal, 'abort');
}

const threadStream = {
  follow: (_actor: unknown, _thread_id: string, _options: unknown, signal: AbortSignal) => endless(signal),
};

const task = { task_id: 't', state: 'working', status: 'running' };
const a2a = {
  cardDataOf: async () => ({ assistant: { assistant_id: 'echo' } }),
  find: async () => task,
  async *subscribed(_actor: unknown, _row: unknown, _last: unknown, _options: unknown, signal: AbortSignal) {
    const payload = { $case: 'statusUpdate', value: { taskId: 't', contextId: 'c', status: undefined } };
    yield { id: '1', response: { payload } };
    if (!signal.aborted) await once(signal, 'abort');
  },
};

const mcp = {
  stateKey: async () => 'secret of thirty-two characters!!',
  onToolsChanged: () => ({ [Symbol.dispose]() {} }),
  onCallCancelled() {},
  find: async (_actor: unknown, name: string) => ({
    ...{ name, title: name, description: '', annotations: {} },
    schemas: { input: { type: 'object' } },
    assistant: { assistant_id: name },
  }),
  start: async () => run,
  async outcome(_run: unknown, report: (progress: object) => void, signal: AbortSignal) {
    report({ kind: 'nodes', names: ['first'] });
    if (!signal.aborted) await once(signal, 'abort');
    return { kind: 'values', values: {} };
  },
  abandon: async () => {
    abandoned += 1;
  },
};

const mcpParts = {
  ...{ cancel_on_disconnect: true, body_limit: 1024 ** 2 },
  ...{ mcp: mcp as never, extend: undefined },
};

beforeAll(async () => {
  server = await bareServer({
    authenticate,
    authenticate_every_ms: 1,
    extensions: { routes: [mcpPlugin(mcpParts), routesOver(a2a), openAiRoutes], offAnswer: () => undefined },
    services: {
      eventStreaming: {
        open: async () => ({}),
        async events(_request: unknown, sink: { send(event: object): void }, signal: AbortSignal) {
          sink.send({ seq: 1, method: 'values', text: '{"x":1}' });
          if (!signal.aborted) await once(signal, 'abort');
        },
      },
      statelessRuns: {
        create: async () => ({ run_id: run.run_id, updated_at: '2026-01-01T00:00:00.000Z' }),
      },
      runs: {
        follow: (_run: unknown, signal: AbortSignal) => endless(signal),
        get: async () => run,
        authorizeAbandoning: async () => {},
        joinStream: (
          _actor: unknown,
          _thread: string,
          _run: string,
          _options: unknown,
          signal: AbortSignal,
        ) => endless(signal),
        abandon: async () => {
          abandoned += 1;
        },
      },
      threadStream,
    },
  });
  origin = await server.listen();
});

beforeEach(() => {
  answers = {};
});

afterAll(() => server[Symbol.asyncDispose]());

/** A stream whose credential is refused once its first event has come; and its text until it ended. */
async function refused(
  path: string,
  body?: object,
  headers = {},
  refusal: Error = REVOKED,
  at = origin,
): Promise<string> {
  const key = randomUUID();
  answers[key] = [undefined];
  const response = await fetch(`${at}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.status).toBe(200);
  let text = '';
  for await (const part of (response.body as ReadableStream<Uint8Array>).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += part;
    if (text.includes('data: ')) answers[key] = [refusal];
  }
  return text.replaceAll(/: heartbeat\r?\n\r?\n/g, '');
}

test.for([
  [REVOKED, '401: This API key was revoked'],
  [new Forbidden('Forbidden'), '403: Forbidden'],
] as const)('a stream ends with the reason when its credential does: %s', async ([refusal, message]) => {
  const first = 'event: values\r\ndata: {"x":1}\r\nid: 1\r\n\r\n';
  const last = `event: error\r\ndata: {"error":"HTTPException","message":"${message}"}\r\n\r\n`;
  expect(await refused(EVENTS, undefined, {}, refusal)).toBe(first + last);
});

test('a stream through the custom app ends when the credential of its client ends', async () => {
  await using relay = await bareServer({
    authenticate,
    authenticate_every_ms: 1,
    services: { threadStream },
    options: { middleware_order: 'auth_first' },
    customApp: { routes: [], fetch: ({ url }, { forward }) => forward(new Request(url)) },
  });
  const text = await refused(EVENTS, undefined, {}, REVOKED, await relay.listen());
  expect(text).toEqual(naming('401: ', 'revoked'));
});

test('the run of a stream whose credential ended continues, even with on_disconnect cancel', async () => {
  const path = `/threads/${run.thread_id}/runs/${run.run_id}/stream?cancel_on_disconnect=1`;
  expect(await refused(path)).toEqual(naming('401: ', 'revoked'));
  expect(abandoned).toBe(0);
});

test('event streaming whose credential ends gets an error of its protocol', async () => {
  const data = '{"type":"error","id":null,"error":"unknown_error","message":"401: This API key was revoked"}';
  const text = await refused(`${EVENTS}/events`, { channels: ['values'] });
  expect(text).toBe(`event: values\ndata: {"x":1}\nid: 1\n\nevent: error\ndata: ${data}\n\n`);
});

test.for([
  [
    '/a2a/echo',
    { jsonrpc: '2.0', id: 7, method: 'SubscribeToTask', params: { id: 't' } },
    { jsonrpc: '2.0', id: 7, error: { code: -32000, message: REVOKED.message } },
  ],
  [
    '/a2a/echo/tasks/t:subscribe',
    {},
    { error: { code: 401, status: 'UNAUTHENTICATED', message: REVOKED.message } },
  ],
] as const)(
  'an A2A stream whose credential ends gets an error of its protocol: %s',
  async ([path, body, error]) => {
    const text = await refused(path, body, { 'a2a-version': '1.0' });
    const messages = [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(String(data)));
    expect(messages).toHaveLength(2);
    expect(messages[1]).toMatchObject(error);
  },
);

test('a chat completion whose credential ends gets an error of its API', async () => {
  const messages = [{ role: 'user', content: 'Hello!' }];
  const text = await refused('/v1/chat/completions', { model: 'echo', messages, stream: true });
  const [first, last, ...more] = [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => String(data));
  expect(JSON.parse(String(first))).toMatchObject({ object: 'chat.completion.chunk' });
  const error = { message: REVOKED.message, type: 'authentication_error', param: null, code: null };
  expect([JSON.parse(String(last)), more]).toEqual([{ error }, []]);
});

test('an MCP listener whose credential ends is disconnected', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const method = 'subscriptions/listen';
  const params = { notifications: { toolsListChanged: true }, _meta };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, accept: 'text/event-stream' };
  const text = await refused('/mcp', { jsonrpc: '2.0', id: 1, method, params }, headers);
  expect(text).toContain('notifications/subscriptions/acknowledged');
});

test.for(['2025-06-18', '2026-07-28'])(
  'an MCP tool call whose credential ends gets an error, and its run continues, even one that a disconnect cancels: %s',
  async (version) => {
    const _meta = {
      progressToken: 1,
      ...(version === '2026-07-28' && {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      }),
    };
    const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'echo', _meta } };
    const text = await refused('/mcp', message, {
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
      accept: 'application/json, text/event-stream',
    });
    const messages = [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(String(data)));
    expect(messages.map(({ method }) => method)).toEqual(['notifications/progress', undefined]);
    expect(messages[1]).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32600, message: REVOKED.message } });
    expect(abandoned).toBe(0);
  },
);

test('a caller who temporarily cannot be authenticated keeps the stream, and streams of a key share one check', async () => {
  const key = randomUUID();
  const gone = new AbortController();
  const open = async () => {
    const response = await fetch(`${origin}${EVENTS}`, {
      headers: { 'x-api-key': key },
      signal: gone.signal,
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    return reader;
  };
  const readers = await Promise.all([open(), open(), open()]);
  const { promise: checked, resolve } = Promise.withResolvers<void>();
  answers[key] = [new Unavailable('the database is away'), undefined, REVOKED];
  checks.length = 0;
  Promise.all(
    readers.map(async (reader) => {
      while (!(await reader.read()).done);
    }),
  ).then(
    () => resolve(),
    () => resolve(),
  );
  await checked;
  expect(checks.filter((checked_key) => checked_key === key)).toHaveLength(3);
});
