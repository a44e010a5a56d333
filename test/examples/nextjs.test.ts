import { Client } from '@langchain/langgraph-sdk';
import { createJiti } from 'jiti';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, project } from '../support/project.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { filesOf } from './blocks.ts';
import { type Handler, startNext } from './next-server.ts';

const PAGE = filesOf('docs/nextjs.md');
const ROUTE = 'app/api/[..._path]/route.ts';

let server: TestServer;
let folder: Project;
let next: Awaited<ReturnType<typeof startNext>>;

beforeAll(async () => {
  server = await startServer({ api_keys: ['local-key'] });
  folder = await project({
    'tsconfig.json': '{ "compilerOptions": { "paths": { "@/*": ["./*"] } } }',
    'auth.ts': 'export const auth = async () => ({ user: { id: process.env.SIGNED_IN } });',
    [ROUTE]: PAGE[ROUTE] ?? '',
    'lib/session.ts': PAGE['lib/session.ts'] ?? '',
    'lib/token.ts': PAGE['lib/token.ts'] ?? '',
    'app/token/route.ts': PAGE['app/token/route.ts'] ?? '',
  });
  Object.assign(process.env, {
    AGENT_SERVER_URL: server.url,
    AGENT_SERVER_KEY: 'local-key',
    SIGNED_IN: 'jane',
  });
  next = await startNext(await load(ROUTE));
});

afterAll(async () => {
  next?.[Symbol.dispose]();
  await folder?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

function load(name: string): Promise<Record<string, Handler>> {
  return createJiti(folder.root, { tsconfigPaths: true, fsCache: false }).import(folder.path(name));
}

test('docs/nextjs.md: a browser works through the proxy without a key', async () => {
  const client = new Client({ apiUrl: next.url, apiKey: null });
  const { thread_id } = await client.threads.create({ metadata: { page: 'a/b c' } });
  expect(await client.runs.wait(thread_id, 'echo', { input: { x: 1 } })).toMatchObject({ x: 1 });
  expect(await client.threads.search({ metadata: { page: 'a/b c' }, limit: 5 })).toHaveLength(1);
  await expect(client.threads.get(crypto.randomUUID())).rejects.toThrow('404');
  await client.threads.delete(thread_id);
  expect((await fetch(`${server.url}/threads/${thread_id}`)).status).toBe(401);
});

test('docs/nextjs.md: tokens arrive one by one through the proxy, and a stream resumes where it was cut', async () => {
  const client = new Client({ apiUrl: next.url, apiKey: null });
  const { thread_id } = await client.threads.create();
  const run: { id?: string } = {};
  const statuses: string[] = [];
  const stream = client.runs.stream(thread_id, 'tokens', {
    input: { count: 20, token_ms: 300 },
    streamMode: 'messages-tuple',
    streamResumable: true,
    onRunCreated: ({ run_id }) => {
      run.id = run_id;
    },
  });
  for await (const { event } of stream) {
    if (event !== 'messages') continue;
    statuses.push(statuses.length === 0 ? (await client.runs.get(thread_id, run.id ?? '')).status : 'later');
  }
  expect(statuses.length).toBeGreaterThanOrEqual(20);
  // The first token came while the graph was at work on the others.
  expect(statuses[0]).toBe('running');

  const rest = client.runs.joinStream(thread_id, run.id ?? '', { lastEventId: '10' });
  const ids = (await Array.fromAsync(rest)).map(({ id }) => id);
  expect(ids[0]).toBe('11');
});

test('docs/nextjs.md: a browser that disconnects closes the request to the server', async () => {
  const client = new Client({ apiUrl: next.url, apiKey: null });
  const { thread_id } = await client.threads.create();
  const stop = new AbortController();
  const stream = client.runs.stream(thread_id, 'sleeper', {
    input: { ms: 60_000 },
    onDisconnect: 'cancel',
    signal: stop.signal,
    onRunCreated: () => stop.abort(),
  });
  await Array.fromAsync(stream).catch(() => {});
  await expect.poll(async () => (await client.threads.get(thread_id)).status).not.toBe('busy');
});

test('docs/nextjs.md: requests without a session get 401', async () => {
  process.env['SIGNED_IN'] = '';
  const { GET } = await load(ROUTE);
  const answer = await GET?.(new Request('http://next.test/api/info'), {
    params: Promise.resolve({ _path: ['info'] }),
  });
  expect(answer?.status).toBe(401);
  process.env['SIGNED_IN'] = 'jane';
});

test('docs/nextjs.md: a user token shows only the threads of that user', async () => {
  const { POST } = await load('app/token/route.ts');
  const answer = await POST?.(new Request('http://next.test/token', { method: 'POST' }), undefined as never);
  const { token } = (await (answer as Response).json()) as { token: string };
  const jane = new Client({
    apiUrl: server.url,
    apiKey: null,
    defaultHeaders: { Authorization: `Bearer ${token}` },
  });
  await server.client.threads.create({ metadata: { of: 'nobody' } });
  const { thread_id } = await jane.threads.create();

  expect((await jane.threads.search()).map((thread) => thread.thread_id)).toEqual([thread_id]);
});
