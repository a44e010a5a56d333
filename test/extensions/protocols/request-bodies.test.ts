import { expect, test } from 'vitest';
import { mcpPlugin } from '../../../src/extensions/mcp/http/routes.ts';
import { routesOver } from '../../support/a2a.ts';
import { bareServer } from '../../support/bare-server.ts';
import { naming } from '../../support/naming.ts';

const KB = 1024;

const A2A_DETAILS = [expect.objectContaining({ reason: 'CONTENT_TOO_LARGE' })];
const rpcRefusal = (message: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32600, message, ...more },
});

test.each([
  ['/a2a/a', 'http.a2a', (message: unknown) => rpcRefusal(message, { data: A2A_DETAILS })],
  [
    '/a2a/a/message:send',
    'http.a2a',
    (message: unknown) => ({
      error: { code: 413, status: 'INVALID_ARGUMENT', message, details: A2A_DETAILS },
    }),
  ],
  ['/mcp', 'http.mcp', (message: unknown) => rpcRefusal(message)],
])('%s refuses a message over its limit with an error of its protocol', async (url, group, refusal) => {
  await using http = await bareServer({
    extensions: withLimit(20 * KB),
    options: { max_body_values: 1000 },
  });
  const send = (payload: string) => http.inject({ method: 'POST', url, payload });
  const large = await send(JSON.stringify({ a: 'x'.repeat(20 * KB) }));
  const said = naming('20480 bytes', `${group}.body_limit`);
  expect([large.statusCode, large.json()]).toEqual([413, refusal(said)]);
  const many = await send(`[${'1,'.repeat(1000)}1]`);
  const values = naming('server.max_body_values');
  expect([many.statusCode, many.json()]).toEqual([413, refusal(values)]);
});

/** A2A and MCP with this limit of a message. */
function withLimit(body_limit: number) {
  const mcp = { onCallCancelled: () => {} } as never;
  const ofMcp = { mcp, extend: undefined, cancel_on_disconnect: false, body_limit };
  const a2a = { cardDataOf: async () => ({ assistant: {} }) };
  return { routes: [mcpPlugin(ofMcp), routesOver(a2a, { body_limit })], offAnswer: () => undefined };
}

test('the body limit of a protocol is never above that of the server', async () => {
  await using http = await bareServer({
    options: { body_limit: KB },
    extensions: withLimit(20 * KB),
  });
  const refused = await http.inject({ method: 'POST', url: '/mcp', payload: 'x'.repeat(2 * KB) });
  expect(refused.json().error.message).toEqual(naming('1024 bytes', 'server.body_limit'));
});
