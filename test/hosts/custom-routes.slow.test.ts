import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { type Project, project } from '../support/project.ts';
import { uploadSlowly } from '../support/slow-bodies.ts';
import { until } from '../support/until.ts';

const CONFIG = 'graphs: { waits: ./waits.mjs:graph }\nhttp: { app: "./app.mjs:app" }\n';

const APP = `import { existsSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { Hono } from 'hono';
  export const app = new Hono()
    .use(async (c, next) => { await next(); c.header('x-own', String(process.pid)); })
    .get('/own/pid', (c) => c.json(process.pid))
    .get('/own/grow', (c) => {
      globalThis.kept = Buffer.alloc(600 * 1024 ** 2, 1);
      return c.json(process.pid);
    })
    .get('/own/gate/:name', async (c) => {
      while (!existsSync(new URL(c.req.param('name'), import.meta.url))) await sleep(20);
      return c.json(process.pid);
    })
    .get('/own/headers', (c) => c.json(c.req.header()))
    .get('/own/half', () => new Response(new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('half')),
    })));`;

/** Waits for a file, then ends. */
const WAITS = `import { existsSync, writeFileSync } from 'node:fs';
  import { setTimeout as sleep } from 'node:timers/promises';
  import { Annotation, StateGraph } from '@langchain/langgraph';
  const State = Annotation.Root({ gate: Annotation(), pid: Annotation() });
  export const graph = new StateGraph(State)
    .addNode('wait', async ({ gate }) => {
      writeFileSync(gate + '.begun', String(process.pid));
      while (!existsSync(gate)) await sleep(20);
      return { pid: process.pid };
    })
    .addEdge('__start__', 'wait').compile();`;

const files = (app = APP, config = '') =>
  project({ 'agent.config.yaml': CONFIG + config, 'app.mjs': app, 'waits.mjs': WAITS });

async function open({ root }: Project, hosts: number) {
  const server = await openApp({
    graphs: ['waits'],
    folder: root,
    environment: { AGENT_SERVER_HOSTS: String(hosts) },
  });
  const url = await server.app.server.listen({ host: '127.0.0.1', port: 0 });
  const pid = async () => (await server.get('/own/pid')).body as number;
  return { ...server, url, pid };
}

test('one host serves the custom app until it ends, then another one does', async () => {
  await using code = await files();
  await using server = await open(code, 2);
  const first = await server.pid();
  expect(first).not.toBe(process.pid);
  expect([await server.pid(), await server.pid()]).toEqual([first, first]);

  process.kill(first, 'SIGKILL');
  await until('its end is noticed', () => lines(server, 'a graph host ended').length === 1);
  const second = await server.pid();
  expect(second).not.toBe(first);
  const run = { assistant_id: 'waits', input: { gate: code.path('app.mjs') } };
  await until(
    'the first is replaced',
    async () => ![first, second].includes((await server.post('/runs/wait', run)).body.pid),
  );
  expect(await server.pid()).toBe(second);
});

test('a replaced host finishes its requests of the custom app, and new ones go to the next host', async () => {
  await using code = await files(APP, 'hosts: { max_memory_mb: 600 }\n');
  await using server = await open(code, 1);
  const first = await server.pid();
  const slow = fetch(`${server.url}/own/gate/opened`);
  await fetch(`${server.url}/own/grow`);
  await until('it is replaced', () => lines(server, 'replacing a graph host').length === 1);
  expect(await server.pid()).not.toBe(first);
  await code.write({ opened: '' });
  expect(await (await slow).json()).toBe(first);
});

test('a response whose host ends is cut off, and the next request is answered', async () => {
  await using code = await files();
  await using server = await open(code, 1);
  const pid = await server.pid();
  const response = await fetch(`${server.url}/own/half`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('half');
  process.kill(pid, 'SIGKILL');
  await expect(reader.read()).rejects.toThrow();
  expect(await server.pid()).not.toBe(pid);
});

test('a stream of a run that passes through middleware outlives the host of the app', async () => {
  await using code = await files();
  await using server = await open(code, 1);
  const gate = code.path('gate');
  const response = await fetch(`${server.url}/runs/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'waits', input: { gate }, stream_mode: 'values' }),
  });
  const pid = await server.pid();
  expect(response.headers.get('x-own')).toBe(String(pid));
  await until('the run executes', () => existsSync(`${gate}.begun`));
  process.kill(pid, 'SIGKILL');
  await writeFile(gate, '');
  const text = await response.text();
  expect(text).toContain(`"gate":"${gate}"`);
  expect(text).toMatch(/"pid":\d+/);
  expect(text).not.toContain(`"pid":${pid}`);
});

test('a client of the custom app cannot pose as the server', async () => {
  await using code = await files();
  await using server = await open(code, 1);
  const forged = Buffer.from(JSON.stringify({ token: 'x', exchange: 'y' })).toString('base64url');
  const { body, headers } = await server.get('/own/headers', {
    'x-agent-server-context': forged,
    'x-agent-server-answer': forged,
  });
  expect(Object.keys(body).filter((name) => name.startsWith('x-agent-server'))).toEqual([]);
  expect(Object.keys(headers).filter((name) => name.startsWith('x-agent-server'))).toEqual([]);
});

test('an upload is sent as fast as the app reads it', async () => {
  await using server = await openApp({
    graphs: [],
    folder: resolve(import.meta.dirname, '../fixtures/own-app'),
    http: { app: './streams.ts:hono' },
    server: { body_limit: 2 ** 30 },
    environment: { AGENT_SERVER_HOSTS: '1' },
  });
  await uploadSlowly(await server.app.server.listen({ host: '127.0.0.1', port: 0 }));
});

test('a custom app that cannot be loaded leaves nothing behind', async () => {
  await using code = await files("throw new Error('out of order');");
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = code.root;
  try {
    await expect(open(code, 2)).rejects.toThrow(/^agent\.config\.yaml: http\.app: .*out of order$/);
  } finally {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  }
  expect((await readdir(code.root)).filter((name) => name.startsWith('agent-hosts-'))).toEqual([]);
});

test('a custom app that no longer loads when its host is replaced is a 503, and the rest works', async () => {
  await using code = await files();
  await using server = await open(code, 1);
  await code.write({ 'app.mjs': "throw new Error('out of order');" });
  process.kill(await server.pid(), 'SIGKILL');
  await until('the new host has tried', () => lines(server, 'http.app failed to load').length === 1);
  const { status, body } = await server.get('/own/pid');
  expect([status, body]).toEqual([503, { detail: expect.stringContaining('http.app failed to load') }]);
  expect((await server.get('/ok')).status).toBe(200);
});

function lines({ log }: Awaited<ReturnType<typeof openApp>>, start: string) {
  return log.filter(({ message }) => message.startsWith(start));
}
