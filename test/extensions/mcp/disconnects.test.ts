import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createMcpRequestHandler } from '../../../src/extensions/mcp/http/handler.ts';
import { openApp } from '../../support/app.ts';
import { naming } from '../../support/naming.ts';
import { until } from '../../support/until.ts';

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

test('a client that disconnects before an MCP response begins causes no error in the log', async () => {
  await using http = await openApp({ graphs: ['sleeper'] });
  const { url } = await http.app.listen();
  const headers = { 'content-type': 'application/json' };
  http.app.server.server.once('request', ({ socket }) => setImmediate(() => socket.destroy()));
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  await expect(fetch(`${url}/mcp/`, { method: 'POST', body: list, headers })).rejects.toThrow();
  const told = () => http.log.find(({ fields }) => fields['path'] === '/mcp/');
  await until('the request has ended', () => told() !== undefined);
  expect(told()).toMatchObject({ level: 'info', message: naming('disconnected') });
});
