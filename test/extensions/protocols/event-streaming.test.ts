import { afterAll, beforeAll, expect, test } from 'vitest';
import { message } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { type HttpClient, httpClient } from '../../support/http-client.ts';
import { askLegacy } from '../../support/mcp-messages.ts';
import { essence, toldOf } from '../../support/told-events.ts';

let app: Awaited<ReturnType<typeof openApp>>;
let http: HttpClient;
beforeAll(async () => {
  app = await openApp({ graphs: ['chat'] });
  http = httpClient((await app.app.listen()).url);
});
afterAll(() => app[Symbol.asyncDispose]());

/** LangGraph gives the ids of messages that have none. */
const withAnyId = (item: unknown) =>
  Array.isArray(item) && item[0] === 'message' ? item.with(3, expect.any(String)) : item;

const HI = { messages: [{ role: 'user', content: 'hi', id: 'hi' }] };

test('a run started over A2A emits its messages as event streaming', async () => {
  const contextId = await app.thread();
  const params = { message: message('hi', { contextId }) };
  await app.post('/a2a/chat', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params });
  expect(essence(await toldOf(http, contextId))).toEqual([
    ['running', '', 'chat'],
    ['message', '', 'ai', expect.any(String), 'You said: hi'],
    ['completed', '', 'chat'],
  ]);
});

test('a run started over MCP emits its messages as event streaming', async () => {
  const thread_id = await app.thread();
  const call = { name: 'chat', arguments: HI, _meta: { thread_id } };
  await askLegacy(app, 'tools/call', call);
  const by_command = await app.thread();
  const params = { assistant_id: 'chat', input: HI };
  await app.post(`/threads/${by_command}/commands`, { id: 1, method: 'run.start', params });
  const expected = essence(await toldOf(http, by_command)).map(withAnyId);
  expect(essence(await toldOf(http, thread_id))).toEqual(expected);
});
