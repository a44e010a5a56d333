import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';
import { keyFile } from '../../support/keys.ts';
import { askModern } from '../../support/mcp-messages.ts';

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const PATHS = ['/mcp', '/mcp/', '/mcp/zod-state'];

test('the MCP endpoint works with and without a trailing slash, and only by POST', async () => {
  await using server = await openApp({ graphs: ['zod-state'] });
  for (const url of PATHS) {
    const { status, body } = await server.post(url, LIST);
    expect([url, status, body.result.tools.map(({ name }: { name: string }) => name)]).toEqual([
      url,
      200,
      ['zod-state'],
    ]);
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await server.send(method, url);
      expect([method, url, answer.status, answer.headers['allow']]).toEqual([method, url, 405, 'POST']);
    }
  }
});

test('an MCP call causes no warning about leaked listeners', async () => {
  await using server = await openApp({ graphs: ['echo'], one_process: 'warnings of its own' });
  const { url } = await server.app.listen();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const answer = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
  expect(await answer.text()).toContain('echo');
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

test('the MCP endpoint of an assistant has only that tool, by id and by graph name', async () => {
  await using server = await openApp({
    graphs: ['echo', 'counter'],
    one_process: 'each process reads the types of its graphs when it is first asked',
  });
  const { assistant_id } = (await server.get('/assistants/echo')).body;
  // A call waits for the types of its graph only for 10 s.
  await server.get('/assistants/echo/schemas');
  const call = async (url: string, name: string) => {
    const params = { name, arguments: { x: 1 } };
    const { body } = await server.post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return body.result?.structuredContent ?? body.error.message;
  };
  for (const url of ['/mcp/echo', `/mcp/${assistant_id}`]) {
    expect([url, await call(url, 'echo')]).toEqual([url, { x: 1, log: ['a:1', 'b'] }]);
    expect([url, await call(url, 'counter')]).toEqual([url, 'Unknown tool: counter']);
  }
});

test('a read key calls no MCP tool, and a run key calls them without being an administrator', async () => {
  await using keys = await keyFile();
  await using server = await openApp({ graphs: ['zod-state'], environment: keys.environment });
  const reader = await keys.make({ scope: 'read' });
  const worker = await keys.make({ scope: 'run' });
  for (const url of PATHS) {
    expect([url, (await server.post(url, LIST, { 'x-api-key': worker.key })).status]).toEqual([url, 200]);
    expect([url, (await server.post(url, LIST, { 'x-api-key': reader.key })).status]).toEqual([url, 403]);
  }
});

test('an MCP user sees and calls only their own assistants', async () => {
  const folder = resolve(import.meta.dirname, '../../fixtures/auth');
  await using server = await openApp({ graphs: ['echo'], folder });
  const alice = { authorization: 'Bearer alice-token' };
  const bob = { authorization: 'Bearer bob-token' };
  const rpc = async (who: Record<string, string>, method: string, params: object) =>
    (await server.post('/mcp', { jsonrpc: '2.0', id: 1, method, params }, who)).body;
  await server.post('/assistants', { graph_id: 'echo', name: 'Diary' }, alice);
  const namesFor = async (who: Record<string, string>) =>
    (await rpc(who, 'tools/list', {})).result.tools.map(({ name }: { name: string }) => name);
  expect(await namesFor(alice)).toContain('Diary');
  expect(await namesFor(bob)).not.toContain('Diary');
  const call = { name: 'Diary', arguments: {}, _meta: { thread_id: 'notes' } };
  const { result } = await rpc(alice, 'tools/call', call);
  expect(result._meta.thread_id).toEqual(expect.any(String));
  expect((await rpc(bob, 'tools/call', call)).error).toMatchObject({ message: 'Unknown tool: Diary' });
  // As with runs, rules about metadata do not hide the assistants of the graphs.
  const foreign = { ...call, name: 'echo', _meta: { thread_id: result._meta.thread_id } };
  expect((await rpc(bob, 'tools/call', foreign)).result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('not found') }],
  });
  const own = (await rpc(bob, 'tools/call', { ...call, name: 'echo' })).result;
  expect(own._meta.thread_id).toEqual(expect.any(String));
  expect(own._meta.thread_id).not.toBe(result._meta.thread_id);
  expect((await server.post('/mcp', LIST)).status).toBe(401);
});

test('an MCP header that contradicts its argument is refused', async () => {
  await using server = await openApp({ graphs: ['regional'] });
  const call = async (args: object, headers: Record<string, string>) => {
    const params = { name: 'regional', arguments: args };
    const { status, result, error } = await askModern(server, 'tools/call', params, { headers });
    return [status, error?.code ?? result.structuredContent?.said];
  };
  const south = { 'mcp-param-region': 'South' };
  expect(await call({ region: 'South' }, south)).toEqual([200, 'From South.']);
  expect(await call({ region: 'North' }, south)).toEqual([400, -32020]);
  expect(await call({ region: 'South' }, {})).toEqual([400, -32020]);
  const encoded = { 'mcp-param-region': `=?base64?${Buffer.from('Süd').toString('base64')}?=` };
  expect(await call({ region: 'Süd' }, encoded)).toEqual([200, 'From Süd.']);
  expect(await call({ region: 'Süd' }, { 'mcp-param-region': '=?base64?!?=' })).toEqual([400, -32020]);
  expect(await call({ region: 'South', share: 42 }, { ...south, 'mcp-param-share': '42.0' })).toEqual([
    200,
    'From South.',
  ]);
});

test('a graph that failed to load is not listed as an MCP tool, and a call returns the reason', async () => {
  await using server = await openApp({ graphs: ['broken', 'zod-state'] });
  const { tools } = (await askModern(server, 'tools/list', {})).result;
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(['zod-state']);
  const { status, result } = await askModern(server, 'tools/call', { name: 'broken', arguments: {} });
  expect([status, result.isError]).toEqual([200, true]);
  expect(result.content[0].text).toMatch(/broken/);
});
