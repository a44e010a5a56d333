import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createMcpRequestHandler } from '../../../src/extensions/mcp/http/handler.ts';

test('the caller of an MCP client that disconnects while its message is parsed is no longer watched', async () => {
  const watches: string[] = [];
  const watch = () => {
    watches.push('begun');
    return { [Symbol.dispose]: () => void watches.push('ended') };
  };
  const handler = createMcpRequestHandler({
    replies: { callers: { watch } },
    body_limit: 1000,
    logger: { debug() {} },
    mcp: { onCallCancelled() {}, onToolsChanged() {} },
  } as never);
  const raw = new EventEmitter();
  const json = async () => {
    raw.emit('close');
    return { value: { jsonrpc: '2.0', id: 1, method: 'ping' } };
  };
  const request = {
    ...{ body: '{}', headers: {}, params: {}, actor: {}, protocol: 'http', host: 'localhost' },
    raw: { headers: {}, url: '/mcp' },
    server: { bodies: { json } },
  };
  const reply: object = {
    raw,
    code: () => reply,
    headers: () => reply,
    header: () => reply,
    send: () => reply,
  };
  await handler.serve(request as never, reply as never).catch(() => {});
  expect(watches).toEqual(['begun', 'ended']);
});
