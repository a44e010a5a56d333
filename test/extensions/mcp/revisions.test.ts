import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';
import { askLegacy, askModern } from '../../support/mcp-messages.ts';

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ graphs: ['zod-state'] });
});

afterAll(() => server[Symbol.asyncDispose]());

test.each([
  ['2024-11-05', '2024-11-05'],
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'],
  ['2099-01-01', '2025-11-25'],
])('an MCP client that begins with %s gets %s', async (protocolVersion, answered) => {
  const clientInfo = { name: 'test', version: '1' };
  const { result } = await askLegacy(server, 'initialize', { protocolVersion, capabilities: {}, clientInfo });
  expect(result).toMatchObject({ protocolVersion: answered, capabilities: { tools: { listChanged: true } } });
  expect((await askLegacy(server, 'ping')).result).toEqual({});
  expect((await askLegacy(server, 'logging/setLevel', { level: 'info' })).result).toEqual({});
});

test('an MCP client of 2026-07-28 discovers the server without initialize', async () => {
  const { result } = await askModern(server, 'server/discover', {});
  expect(result).toMatchObject({ supportedVersions: ['2026-07-28'], cacheScope: 'private' });
  expect(result.ttlMs).toBeGreaterThan(0);
  for (const method of ['initialize', 'ping', 'logging/setLevel', 'nonsense']) {
    const { status, error } = await askModern(server, method, {});
    expect([method, status, error?.code]).toEqual([method, 404, -32601]);
  }
});

test('invalid MCP params are an error of the client', async () => {
  const clientInfo = { name: 'test', version: '1' };
  const refused = async (
    ...asked: Parameters<typeof askLegacy> extends [unknown, ...infer Rest] ? Rest : never
  ) => (await askLegacy(server, ...asked)).error;
  const missing = 'expected string, received undefined';
  expect(await refused('initialize', { capabilities: {}, clientInfo })).toEqual({
    code: -32602,
    message: `Invalid params: params.protocolVersion: Invalid input: ${missing}`,
  });
  expect((await refused('initialize'))?.code).toBe(-32602);
  expect((await refused('tools/list', { cursor: 5 }))?.code).toBe(-32602);
  expect((await askModern(server, 'tools/list', { cursor: 5 })).error.code).toBe(-32602);
});

test('MCP headers that contradict the message are refused', async () => {
  const wrong = { headers: { 'mcp-method': 'ping' } };
  expect(await askModern(server, 'tools/list', {}, wrong)).toMatchObject({
    status: 400,
    error: { code: -32020 },
  });
  const future = { headers: { 'mcp-protocol-version': '2099-01-01' } };
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
  expect(await askModern(server, 'tools/list', { _meta }, future)).toMatchObject({
    status: 400,
    error: { code: -32022 },
  });
});

test('an MCP batch of 2025-03-26 gets all responses', async () => {
  const call = { name: 'zod-state', arguments: { topic: 'sea' } };
  const batch = [
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
  ];
  const { status, text } = await server.post('/mcp', batch);
  const answers = [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => JSON.parse(data as string));
  expect(status).toBe(200);
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
  expect(answers.find(({ id }) => id === 2).result.structuredContent.topic).toBe('sea');
});

test('MCP tools are listed by name, a hundred per page', async () => {
  const names = Array.from({ length: 150 }, (_, i) => `Tool_${String(i).padStart(3, '0')}`);
  for (const name of names) await server.post('/assistants', { graph_id: 'zod-state', name });
  const first = (await askModern(server, 'tools/list', {})).result;
  const second = (await askModern(server, 'tools/list', { cursor: first.nextCursor })).result;
  const listed = [...first.tools, ...second.tools].map(({ name }: { name: string }) => name);
  expect(first.tools).toHaveLength(100);
  expect(second.nextCursor).toBeUndefined();
  expect(listed).toEqual([...names, 'zod-state']);
  expect(first).toMatchObject({ cacheScope: 'private', ttlMs: expect.any(Number) });
  expect((await askModern(server, 'tools/list', { cursor: 'nonsense' })).error.code).toBe(-32602);
});

test('the thread of an MCP call is named by an argument, or by a header', async () => {
  const call = { name: 'zod-state', arguments: { topic: 'sea' } };
  const threadOf = async (
    ...said: Parameters<typeof askLegacy> extends [unknown, ...infer Rest] ? Rest : never
  ) => (await askLegacy(server, ...said)).result._meta.thread_id;
  const named = await threadOf('tools/call', { ...call, _meta: { thread_id: 'notes' } });
  expect(await threadOf('tools/call', call, { 'x-thread-id': 'notes' })).toBe(named);
  expect(await threadOf('tools/call', call)).not.toBe(named);
  expect((await server.get(`/threads/${named}`)).body.status).toBe('idle');
});
