import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { addressOf, operationsOf } from '../support/operations.ts';

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** A value that somebody puts into a request, and what they are told. */
const HOSTILE: [string, string, string][] = [
  ['a prototype', '{"__proto__":{"polluted":true}}', 'a key that is not allowed: __proto__'],
  [
    "a constructor's prototype",
    '{"constructor":{"prototype":{"polluted":true}}}',
    'a key that is not allowed: constructor',
  ],
  ['10,000 levels', nested(10_000), 'nested deeper than 500 levels'],
  ['40,000 lists', `${'['.repeat(40_000)}${']'.repeat(40_000)}`, 'nested deeper than 500 levels'],
  ['a number that is infinite when parsed', '1e400', 'a number above 1.7976931348623157e+308'],
  ['one that is negative, in a list', '[-1e400]', 'below -1.7976931348623157e+308'],
];

let app: Awaited<ReturnType<typeof openApp>>;
let url: string;
beforeAll(async () => {
  app = await openApp({ graphs: ['echo', 'chat'], http: { openai: { enabled: true } } });
  ({ url } = await app.app.listen());
});
afterAll(() => app[Symbol.asyncDispose]());

/** A busy machine may not read the types of graphs in time, which is a warning. */
const complaints = () =>
  app.log.filter(({ level, message }) => /error|warn/.test(level) && !message.includes('TypeScript types'));

test.each(HOSTILE)('no operation accepts %s', async (_what, value, problem) => {
  const operations = operationsOf((await app.get('/openapi.json')).body).filter(({ body }) => body);
  expect(operations.length).toBeGreaterThan(35);
  for (const operation of operations) {
    const sent = `{"anything":${value}}`;
    const { status, text } = await app.send(operation.method, addressOf(operation, {}), sent);
    // JSON-RPC has its refusals in answers of 200.
    expect([operation.id, status < 500, text]).toEqual([
      operation.id,
      true,
      expect.stringContaining(problem),
    ]);
    if (status < 400) expect(JSON.parse(text)).toHaveProperty('error');
  }
  expect(complaints()).toEqual([]);
  expect({}).not.toHaveProperty('polluted');
});

const rpc = (method: string, params: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
const message = (role: string, part: string) =>
  `{"message":{"role":"${role}","messageId":"m","parts":[${part}]}}`;

/** Doors that read JSON in a protocol of their own, with a value where it would reach a graph. */
const DOORS: [string, (value: string) => Promise<string>][] = [
  ['MCP', (value) => said('/mcp', rpc('tools/call', `{"name":"chat","arguments":{"messages":[${value}]}}`))],
  ['A2A 1.0', (value) => said('/a2a/echo', rpc('SendMessage', message('ROLE_USER', `{"data":${value}}`)))],
  [
    'A2A 0.3',
    (value) => said('/a2a/echo', rpc('message/send', message('user', `{"kind":"data","data":${value}}`))),
  ],
  ['A2A over HTTP', (value) => said('/a2a/echo/message:send', message('ROLE_USER', `{"data":${value}}`))],
  ['WebSocket', saidToSocket],
];

async function said(path: string, body: string): Promise<string> {
  return (await app.post(path, body, { 'content-type': 'application/json' })).text;
}

async function saidToSocket(value: string): Promise<string> {
  const thread_id = await app.thread();
  const socket = new WebSocket(`${url.replace('http', 'ws')}/threads/${thread_id}/stream/events`);
  await once(socket, 'open');
  const params = `{"assistant_id":"echo","input":{"log":[${value}]}}`;
  socket.send(`{"id":1,"method":"run.start","params":${params}}`);
  const [{ data }] = (await once(socket, 'message')) as [MessageEvent];
  socket.close();
  return String(data);
}

describe.each(DOORS)('by %s', (_door, send) => {
  test.each(HOSTILE)('%s never reaches a service', async (_what, value, problem) => {
    expect(await send(value)).toContain(problem);
    expect(complaints()).toEqual([]);
  });

  test('text that a database cannot store reaches services replaced', async () => {
    const told = await send('{"role":"user","content":"a\\u0000b\\ud800"}');
    expect(told).not.toMatch(/error/i);
    const { body: threads } = await app.post('/threads/search', { limit: 1 });
    expect(JSON.stringify(threads)).not.toMatch(/\\u0000|\\ud800/);
  });
});
