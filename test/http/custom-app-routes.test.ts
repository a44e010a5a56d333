import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { naming } from '../support/naming.ts';
import { project } from '../support/project.ts';

const GRAPH = 'export const graph = { stream() {}, getState() {} };\n';

const APPS = {
  Hono: `import { Hono } from 'hono';
    export const app = new Hono().use(async (_, next) => next())
      .get('/orders/:id', (c) => c.text('x')).post('/orders', (c) => c.text('x')).get('/ok', (c) => c.text('x'));`,
  Fastify: `export async function app(server, options) {
      server.get('/orders/:id', async () => 'x');
      server.post('/orders', async () => 'x');
    }`,
  Express: `const handler = (request, response, next) => next();
    handler.router = { stack: [
      { route: { path: '/orders/:id', methods: { get: true } } },
      { route: { path: '/orders', methods: { post: true } } },
      { route: { path: new RegExp('files'), methods: { get: true } } },
      { name: 'middleware' },
    ] };
    export const app = handler;`,
};

test.each(Object.entries(APPS))('the API reference shows the routes of an app of %s', async (_, code) => {
  await using files = await project({
    'agent.config.yaml': 'graphs: { a: ./a.mjs:graph }\nhttp: { app: "./app.mjs:app" }\n',
    'a.mjs': GRAPH,
    'app.mjs': code,
  });
  await using server = await openApp({ graphs: ['a'], folder: files.root });
  const { paths, tags } = (await server.get('/openapi.json')).body;

  expect(paths['/orders/{id}']).toEqual({
    get: {
      operationId: 'custom_get_orders_id_',
      summary: 'GET /orders/{id}',
      tags: ['Custom routes'],
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      responses: { default: { description: naming('app') } },
    },
  });
  expect(Object.keys(paths['/orders'])).toEqual(['post']);
  expect(paths['/ok'].get.tags).toEqual(['System']);
  expect(tags.at(-1).name).toBe('Custom routes');
  const custom = Object.values(paths as Record<string, Record<string, { tags: string[] }>>)
    .flatMap((methods) => Object.values(methods))
    .filter(({ tags: [tag] }) => tag === 'Custom routes');
  expect(custom).toHaveLength(2);
});

test('the API reference of a server without a custom app has no group for custom routes', async () => {
  await using server = await openApp({ graphs: ['echo'] });
  const { tags } = (await server.get('/openapi.json')).body;
  expect(tags.map(({ name }: { name: string }) => name)).not.toContain('Custom routes');
});

test('HEAD requests work on a server with a custom app that uses fetch', async () => {
  await using files = await project({
    'agent.config.yaml': 'graphs: { a: ./a.mjs:graph }\nhttp: { app: "./app.mjs:app" }\n',
    'a.mjs': GRAPH,
    'app.mjs': APPS.Hono,
  });
  await using server = await openApp({ graphs: ['a'], folder: files.root });
  for (const url of ['/info', '/docs/guides/runs.md', '/openapi.json'])
    expect((await server.app.server.inject({ method: 'HEAD', url })).statusCode).toBe(200);
});

test('an app of an older Express, which throws when its router is read, is served', async () => {
  await using files = await project({
    'agent.config.yaml': 'graphs: { a: ./a.mjs:graph }\nhttp: { app: "./app.mjs:app" }\n',
    'a.mjs': GRAPH,
    'app.mjs': `const app = (request, response, next) => next();
      app._router = { stack: [{ route: { path: '/orders', methods: { get: true } } }] };
      Object.defineProperty(app, 'router', { get() { throw new Error('deprecated'); } });
      export { app };`,
  });
  await using server = await openApp({ graphs: ['a'], folder: files.root });
  expect((await server.get('/openapi.json')).body.paths['/orders'].get.tags).toEqual(['Custom routes']);
});
