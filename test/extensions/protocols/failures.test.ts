import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { rpcTo } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { expectClean, expectCut } from '../../support/failure-texts.ts';
import { askModern } from '../../support/mcp-messages.ts';

let server: Awaited<ReturnType<typeof openApp>>;
beforeAll(async () => {
  const folder = resolve(import.meta.dirname, '../../fixtures/throws');
  server = await openApp({ graphs: ['echoes', 'leaks'], folder, http: { openai: { enabled: true } } });
});
afterAll(() => server[Symbol.asyncDispose]());

test('a long error is truncated for A2A and MCP', async () => {
  const input = { text: 'x'.repeat(400_000) };
  const length = '400,016';
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data: input }] };
  const { result } = await rpcTo(server, 'echoes')('SendMessage', { message });
  expectCut(result.task.status.message.parts[0].text.replace('RangeError: ', ''), length);
  const called = await askModern(server, 'tools/call', { name: 'echoes', arguments: input });
  expectCut(called.result.content[0].text.replace('RangeError: ', ''), length);
});

test('the error of a node is reported without secrets by A2A, MCP and chat completions', async () => {
  const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const rpc = rpcTo(server, 'leaks');
  const { result } = await rpc('SendMessage', { message });
  expectClean(result);
  expectClean((await rpc('GetTask', { id: result.task.id })).result);
  expectClean(await askModern(server, 'tools/call', { name: 'leaks', arguments: { messages: 'hello' } }));
  const asked = { model: 'leaks', messages: [{ role: 'user', content: 'hello' }] };
  expectClean((await server.post('/v1/chat/completions', asked)).body);
  expectClean((await server.post('/v1/chat/completions', { ...asked, stream: true })).text);
});
