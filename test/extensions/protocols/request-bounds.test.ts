import type { RouteOptions } from 'fastify';
import { expect, test } from 'vitest';
import { A2aParams } from '../../../src/extensions/a2a/schemas.ts';
import { McpBatchBounds, McpBounds } from '../../../src/extensions/mcp/schemas.ts';
import { openApp } from '../../support/app.ts';
import { declaredRoutes } from '../../support/declared-routes.ts';
import { naming } from '../../support/naming.ts';
import { unboundedPlaces } from '../../support/unbounded-schemas.ts';

const EVERYTHING = {
  graphs: ['echo'],
  environment: {
    LANGGRAPH_HTTP: '{"openai":{"enabled":true}}',
    AGENT_SERVER_API_KEYS: 'operator',
    AGENT_SERVER_DEPLOYMENTS: 'true',
  },
};

/** Contents of messages go to the graph as they are: only the body limit bounds them. */
const FREE = /^POST \/v1\/chat\/completions body\.messages\[\]\.content: text$/;

function requestSchemas({ method, url, schema }: RouteOptions): [place: string, schema: unknown][] {
  return (['params', 'querystring', 'body'] as const).flatMap((part) =>
    schema?.[part] === undefined ? [] : [[`${method} ${url} ${part}`, schema[part]]],
  );
}

test('every text, list and map of a request has a maximum', async () => {
  const routes = await declaredRoutes(() => openApp(EVERYTHING));
  const schemas = routes.filter(({ method }) => method !== 'HEAD').flatMap(requestSchemas);
  expect(schemas.length).toBeGreaterThan(120);
  const places = schemas.flatMap(([place, schema]) => unboundedPlaces(schema, place));
  expect(places.filter((place) => !FREE.test(place))).toEqual([]);
});

test.each([
  ['an A2A request', A2aParams],
  ['an MCP message', McpBounds],
  ['a batch of MCP messages', McpBatchBounds],
])('every text, list and map of %s has a maximum', (_, schema) => {
  expect(unboundedPlaces(schema, 'params')).toEqual([]);
});

const PARTS = Array.from({ length: 1001 }, () => ({ text: 'x' }));
const MODES = Array.from({ length: 101 }, (_, n) => `text/${n}`);

test.each([
  ['parts', { message: { messageId: 'm', role: 'user', parts: PARTS } }],
  [
    'modes',
    {
      message: { messageId: 'm', role: 'user', parts: PARTS.slice(1000) },
      configuration: { acceptedOutputModes: MODES },
    },
  ],
])('an A2A message with too many %s is refused in both versions and bindings', async (_, params) => {
  await using http = await openApp({ graphs: ['echo'] });
  for (const method of ['SendMessage', 'message/send']) {
    const { body } = await http.post('/a2a/echo/', { jsonrpc: '2.0', id: 1, method, params });
    expect(body.error).toMatchObject({ code: expect.any(Number), message: naming('must have at most') });
  }
  const answer = await http.post('/a2a/echo/message:send', params, { 'a2a-version': '1.0' });
  expect(answer.status).toBe(400);
});

test.each([
  [
    'a name that is too long',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x'.repeat(2000) } },
  ],
  [
    'too many messages',
    Array.from({ length: 101 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' })),
  ],
])('an MCP request with %s is refused', async (_, message) => {
  await using http = await openApp({ graphs: ['echo'] });
  const answer = await http.post('/mcp/', message);
  expect([answer.status, answer.body.error.code]).toEqual([400, -32600]);
});
