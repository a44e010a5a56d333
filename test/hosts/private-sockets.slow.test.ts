import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, utimes } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/logger.ts';
import type { GraphStoreAccess } from '../../src/graphs/store/graph-store.ts';
import { hostedApp } from '../../src/hosts/pool/custom-app.ts';
import { listenForHosts } from '../../src/hosts/pool/listener.ts';
import { HostPool } from '../../src/hosts/pool/pool.ts';
import { bareServer } from '../support/bare-server.ts';
import { type Project, project } from '../support/project.ts';
import { startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const APP = `import { Hono } from 'hono';
  import { Client } from '@langchain/langgraph-sdk';
  export const app = new Hono()
    .get('/own/quick', (c) => c.json({ quick: true }))
    .get('/own/slow', async (c) => {
      await new Promise((later) => setTimeout(later, 1500));
      return c.json({ slow: true });
    })
    .get('/own/count', async (c) => c.json(await new Client().threads.count()))
    .get('/own/block', () => { for (;;); });`;

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

interface Served {
  readonly url: string;
  readonly pool: HostPool;
  /** How many connections clients have made to its port. */
  readonly connections: () => number;
  readonly code: Project;
}

/** A server whose app is in a host, with a shorter limit for blocking than the usual one. */
async function served(): Promise<Served> {
  const code = await project({ 'app.mjs': APP });
  const pool = new HostPool({
    count: { least: 1, most: 1 },
    project: { root: code.root, graphs: [] },
    app: './app.mjs:app',
    env: process.env,
    logger: silentLogger,
    clock: systemClock,
  });
  pool.serveStore({} as GraphStoreAccess);
  const http = await bareServer({
    services: { threads: { count: async () => 7 } },
    customApp: await hostedApp(pool, 1500),
  });
  // The pool before the server, which would give a blocked host time to close the app.
  opened.push(code, http, pool, await listenForHosts(http.server, pool));
  const url = await http.listen();
  let connections = 0;
  http.server.server.on('connection', () => connections++);
  return { url, pool, connections: () => connections, code };
}

test('while a route blocks its host, its requests fail in time and the server works', async () => {
  const { url } = await served();
  expect(await (await fetch(`${url}/own/slow`)).json()).toEqual({ slow: true });
  const blocked = fetch(`${url}/own/block`);
  const [first, second] = await Promise.all([blocked, fetch(`${url}/own/quick`)]);
  for (const answer of [first, second]) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toEqual({ detail: expect.stringMatching(/is blocked: .* 1\.5 s/) });
  }
  expect((await fetch(`${url}/ok`)).status).toBe(200);
  expect((await fetch(`${url}/metrics`)).status).toBe(200);
});

test('calls of the project’s code to its own server use the private socket, not the port', async () => {
  const { url, connections } = await served();
  expect(await (await fetch(`${url}/own/count`)).json()).toBe(7);
  // Only that of this test.
  expect(connections()).toBe(1);
});

test('only this user, this server and its hosts can use the sockets', async () => {
  const { pool } = await served();
  await pool.listing;
  const folder = dirname(pool.sockets.server);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const [host] = pool.hosts;
  for (const socketPath of [pool.sockets.server, host?.appSocket ?? '']) {
    expect(Buffer.byteLength(socketPath)).toBeLessThan(100);
    expect(await status(socketPath)).toBe(403);
  }
  await pool[Symbol.asyncDispose]();
  expect(existsSync(folder)).toBe(false);
});

test('a killed server leaves no host sockets', async () => {
  await using code = await project({});
  const env = { AGENT_SERVER_HOSTS: '1', TMPDIR: code.root };
  await using server = await startServer({ env });
  const folders = async () => (await readdir(code.root)).filter((name) => name.startsWith('agent-hosts-'));
  expect(await folders()).toHaveLength(1);
  await server.kill('SIGKILL');
  await until('the hosts have cleaned up', async () => (await folders()).length === 0);
});

test('the next start removes the sockets of a server that was killed with its hosts', async () => {
  await using code = await project({});
  const env = { AGENT_SERVER_HOSTS: '1', TMPDIR: code.root };
  const left = join(code.root, 'agent-hosts-killed');
  await mkdir(left);
  await utimes(left, 0, 0);
  await using _server = await startServer({ env });
  await until('the folder is removed', () => !existsSync(left));
});

function status(socketPath: string): Promise<number | undefined> {
  return new Promise((found, failed) => {
    request({ socketPath, path: '/own/quick' }, (response) => found(response.resume().statusCode))
      .on('error', failed)
      .end();
  });
}
