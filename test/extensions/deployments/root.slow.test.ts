import { once } from 'node:events';
import { get } from 'node:http';
import { createInterface } from 'node:readline';
import { Client } from '@langchain/langgraph-sdk';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { deploymentSettings } from '../../../src/extensions/deployments/section.ts';
import { passHandOver, threeSteps } from '../../support/deployment-process.ts';
import { KEY, openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { failure, naming } from '../../support/naming.ts';
import { program } from '../../support/program.ts';
import { project } from '../../support/project.ts';
import { until } from '../../support/until.ts';

const ROOT = { config: { graphs: {} }, deployments: { root: 'agent', drain_timeout_seconds: 0 } };

test("before a revision serves, the root answers 503, and the server's own pages work", async () => {
  await using server = await openDeploymentServer(ROOT);
  const asked = await fetch(`${server.url}/threads/search`, { method: 'POST' });
  expect([asked.status, asked.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await asked.json()).toEqual({
    detail: naming('"agent"', 'no revision', 'agent-server deploy --name agent'),
  });
  for (const path of ['/ok', '/', '/info', '/metrics', '/studio/session', '/v2/deployments'])
    expect([path, (await server.get(path)).status]).toEqual([path, 200]);
  const page = await fetch(server.url, { headers: { accept: 'text/html' }, redirect: 'manual' });
  expect(page.headers.get('location')).toBe('/studio');
  expect((await server.get('/deployments/agent/ok')).status).toBe(404);

  const created = await server.create('agent');
  expect(created.source_config.custom_url).toBe(server.url);
  expect((await server.create('other')).source_config.custom_url).toBe(`${server.url}/deployments/other`);
  expect((await server.get('/assistants')).status).toBe(503);

  await server.deploy(created.id, projectThat('here'));
  expect((await server.post('/runs/wait', { assistant_id: 'agent', input: {} })).body).toMatchObject({
    said: 'here',
  });
  expect((await server.run('agent')).body).toMatchObject({ said: 'here' });
  expect((await server.get('/v2/deployments')).body.resources).toHaveLength(2);

  await server.send('DELETE', `/v2/deployments/${created.id}`);
  expect((await server.post('/threads')).status).toBe(503);
  expect((await server.get('/ok')).status).toBe(200);
});

test('a root deployment can be served without a configuration file', async () => {
  await using folder = await project({});
  const env = {
    AGENT_SERVER_API_KEYS: KEY,
    AGENT_SERVER_DEPLOYMENTS: 'true',
    AGENT_SERVER_ROOT_DEPLOYMENT: 'agent',
    PORT: '0',
  };
  const child = program(['start'], { cwd: folder.root, env });
  const ended = once(child, 'exit');
  try {
    for await (const line of createInterface(child.stdout)) {
      const ready = JSON.parse(line);
      if (ready.message !== 'ready') continue;
      expect(ready).toMatchObject({ root_deployment: 'agent' });
      expect((await fetch(`${ready.url}/ok`)).status).toBe(200);
      expect((await fetch(`${ready.url}/threads`, { method: 'POST' })).status).toBe(503);
      const headers = { connection: 'upgrade', upgrade: 'websocket' };
      const [upgrade] = await once(get(`${ready.url}/threads/t/stream/events`, { headers }), 'response');
      expect([upgrade.statusCode, upgrade.headers['retry-after']]).toEqual([503, '1']);
      break;
    }
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});

test('the official client works at the root through a switch, with a run that began before it, and a rollback', async () => {
  await using server = await openDeploymentServer(ROOT);
  const { id } = await server.create('agent');
  const first = await server.deploy(id, threeSteps('one'));
  const client = new Client({ apiUrl: server.url, apiKey: KEY });
  const [assistant] = await client.assistants.search();
  expect(assistant?.graph_id).toBe('agent');
  const gate = `${server.folder}/gate`;
  const { thread_id } = await client.threads.create();
  const seen: string[][] = [];
  const began = Promise.withResolvers<void>();
  const streamed = (async () => {
    const stream = client.runs.stream(thread_id, 'agent', { input: { gate }, streamMode: 'values' });
    for await (const { event, data } of stream) {
      if (event !== 'values') continue;
      seen.push((data as { done: string[] }).done);
      if (seen.at(-1)?.length === 1) began.resolve();
    }
  })();
  await began.promise;

  await server.deploy(id, threeSteps('two'));
  await passHandOver(server, gate);
  await streamed;
  expect(seen.at(-1)).toEqual(['one', 'one', 'two']);
  const stored = await client.threads.getState<{ done: string[] }>(thread_id);
  expect(stored.values.done).toEqual(['one', 'one', 'two']);
  const fresh = await client.runs.wait(null, 'agent', { input: {} });
  expect(fresh).toMatchObject({ done: ['two', 'two', 'two'] });

  await server.post(`/v2/deployments/${id}/revisions/${first.id}/redeploy`);
  const [newest] = (await server.get(`/v2/deployments/${id}/revisions?limit=1`)).body.resources;
  expect(await server.ended(id, newest.id)).toMatchObject({ status: 'DEPLOYED', is_active: true });
  expect(await client.runs.wait(null, 'agent', { input: {} })).toMatchObject({ done: ['one', 'one', 'one'] });
  // The other address is one of the same deployment.
  const other = new Client({ apiUrl: `${server.url}/deployments/agent`, apiKey: KEY });
  expect((await other.threads.get(thread_id)).status).toBe('idle');

  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/threads/${thread_id}/stream/events`);
  const closed = await new Promise<number>((resolve) =>
    socket.addEventListener('close', ({ code }) => resolve(code)),
  );
  // Refused for want of a key, by the deployment.
  expect(closed).toBe(4401);
});

test.each([
  ['no prefix', ''],
  ['a prefix', '/base'],
])('links of a root deployment use the requested address, with %s', async (_, prefix) => {
  const config = { graphs: {}, http: { mount_prefix: prefix || undefined } };
  await using server = await openDeploymentServer({ ...ROOT, config });
  const base = server.url + prefix;
  const control = (method: string, path: string, body?: unknown) => server.send(method, prefix + path, body);
  const { id, source_config } = (
    await control('POST', '/v2/deployments', { name: 'agent', source: 'internal_source' })
  ).body;
  expect(source_config.custom_url).toBe(base);
  const files = {
    ...projectThat('here'),
    'langgraph.json': JSON.stringify({
      graphs: { agent: './agent.ts:graph' },
      http: { app: './app.ts:app' },
    }),
    'app.ts': `import { Hono } from 'hono';
export const app = new Hono().get('/own/:name', (c) => c.text(new URL(c.req.url).pathname));`,
  };
  const { upload_url, object_path } = (await control('POST', `/v2/deployments/${id}/upload-url`)).body;
  expect(upload_url).toContain(`${base}/v2/uploads/`);
  await server.put(upload_url, files);
  const source_revision_config = {
    source_tarball_path: object_path,
    langgraph_config_path: 'langgraph.json',
  };
  await control('PATCH', `/v2/deployments/${id}`, { source_revision_config });
  await until('it serves', async () => (await control('GET', '/assistants/none')).status !== 503);

  const headers = { 'x-api-key': KEY };
  for (const at of [prefix, `${prefix}/deployments/agent`]) {
    const get = (path: string) => server.get(at + path);
    const { servers, externalDocs, paths } = (await get('/openapi.json')).body;
    expect(servers).toEqual([{ url: at || '/' }]);
    expect(externalDocs.url).toBe(`${at}/docs/guides`);
    expect(Object.keys(paths)).toContain('/threads');
    expect(Object.keys(paths)).not.toContain('/v2/deployments');
    expect((await get('/docs/json')).body.servers).toEqual(servers);
    expect((await get('/docs')).text).toContain(`${at}/docs/static/`);
    expect((await get('/docs/guides/README.md')).text).toContain(`href="${at}/docs/guides/style.css"`);
    const [{ assistant_id }] = (await server.post(`${at}/assistants/search`)).body;
    const card = (await get(`/.well-known/agent-card.json?assistant_id=${assistant_id}`)).text;
    expect(card).toContain(`"${server.url}${at}/a2a/${assistant_id}`);
    expect((await get('/own/route')).text).toBe('/own/route');
    const mcp = await server.send(
      'POST',
      `${at}/mcp`,
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { accept: 'application/json, text/event-stream' },
    );
    expect([at, mcp.status]).toEqual([at, 200]);
    const moved = await fetch(`${server.url}${at}/threads/search/`, { headers, redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([307, `${server.url}${at}/threads/search`]);
  }
  const page = await fetch(`${base}/`, { headers: { accept: 'text/html' }, redirect: 'manual' });
  expect(page.headers.get('location')).toBe(`${prefix}/studio`);
});

test('a user signed in to Studio sees the deployments and the root deployment', async () => {
  await using server = await openDeploymentServer(ROOT);
  const { id } = await server.create('agent');
  await server.deploy(id, projectThat('here'));
  const signedIn = await fetch(`${server.url}/studio/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.url },
    body: JSON.stringify({ key: KEY }),
  });
  expect(await signedIn.json()).toMatchObject({
    scope: 'admin',
    extensions: expect.arrayContaining(['deployments']),
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] as string;
  const search = (headers: Record<string, string>) =>
    fetch(`${server.url}/assistants/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{}',
    });
  expect((await search({ cookie, origin: server.url })).status).toBe(200);
  expect((await search({ cookie, origin: 'https://example.com' })).status).toBe(403);
  expect((await search({})).status).toBe(401);
  expect((await fetch(`${server.url}/v2/deployments`, { headers: { cookie } })).status).toBe(200);
});

test('a server with graphs refuses a root deployment', async () => {
  await using empty = await project({});
  const load = (environment: Record<string, string>) => loadConfig({ cwd: empty.root, environment });
  const enabled = { AGENT_SERVER_API_KEYS: KEY, AGENT_SERVER_DEPLOYMENTS: 'true' };
  const { config } = await load({ ...enabled, AGENT_SERVER_ROOT_DEPLOYMENT: 'agent' });
  expect([config.graphs, deploymentSettings(config).root]).toEqual([[], 'agent']);
  await expect(load({ AGENT_SERVER_ROOT_DEPLOYMENT: 'agent' })).rejects.toThrow('no configuration');
  await expect(load({ ...enabled, AGENT_SERVER_ROOT_DEPLOYMENT: 'Agent!' })).rejects.toThrow(
    failure(Error, 'AGENT_SERVER_ROOT_DEPLOYMENT: deployments.root: ', 63),
  );
  const graphs = { LANGSERVE_GRAPHS: '{"main":"./main.ts:graph"}', AGENT_SERVER_ROOT_DEPLOYMENT: 'agent' };
  await expect(load(graphs)).rejects.toThrow('requires deployments.enabled');
  await expect(load({ ...graphs, ...enabled })).rejects.toThrow(failure(Error, 'deployments.root', 'graphs'));
});
