import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { customCode } from '../support/custom-code.ts';
import { naming } from '../support/naming.ts';

const AUTH = 'auth: { path: ./auth.mjs:auth }\n';
const STORE = 'store: { index: { dims: 2, embed: ./embed.mjs:embed, fields: [text] } }\n';
const UI = 'ui: { card: ./ui/card.tsx }\n';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const ANN = bearer('ann');

/** A server whose project executes in hosts, all of which are ready. */
async function served(config: string, hosts = '1') {
  const folder = await customCode(config);
  const app = await openApp({
    graphs: ['compute'],
    folder: folder.root,
    environment: { AGENT_SERVER_HOSTS: hosts },
  });
  if (hosts !== '0')
    await expect.poll(async () => (await app.get('/info')).body.server.hosts.ready).toBe(Number(hosts));
  return {
    ...app,
    folder,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

type Served = Awaited<ReturnType<typeof served>>;

const create = ({ post }: Served, metadata: object, headers = ANN) =>
  post('/threads', { metadata: { deep: { list: [], removed: 1, kept: 1 }, ...metadata } }, headers);

test('handlers, embedder and bundler execute in the first host, and changes made by handlers are applied', async () => {
  await using server = await served(AUTH + STORE + UI, '2');

  const { status, body } = await create(server, { own: 'x' });
  expect(status).toBe(200);
  const { pids, ...metadata } = body.metadata;
  expect(metadata).toEqual({ own: 'x', deep: { list: ['added'], kept: 1 } });

  const item = { namespace: ['n'], key: 'k', value: { text: 'abc' } };
  expect((await server.send('PUT', '/store/items', item, ANN)).status).toBe(204);
  const found = await server.post('/store/items/search', { namespace_prefix: ['n'], query: 'abc' }, ANN);
  expect(found.body.items).toMatchObject([{ key: 'k', score: expect.closeTo(1, 2) }]);
  const embedder = readFileSync(server.folder.path('embedder.pids'), 'utf8').trim().split('\n').map(Number);

  expect((await server.post('/ui/card', { name: 'card' }, ANN)).status).toBe(200);
  const css = (await server.get('/ui/card/entrypoint.css')).text;
  const bundler = Number(/--pid:\s*p(\d+)/.exec(css)?.[1]);

  const all = new Set([...pids, ...embedder, bundler]);
  expect(all.size).toBe(1);
  expect(all).not.toContain(process.pid);
});

test.each([
  ['refuse', 418, 'No coffee'],
  ['fail', 500, 'Internal Server Error'],
  ['fail as a class of the server', 500, 'Internal Server Error'],
])('handlers in a host that %s respond as in the process of the server', async (act, status, detail) => {
  await using server = await served(AUTH);
  const answers = [await create(server, {}, bearer(act)), await create(server, { act })];
  for (const answer of answers) expect([answer.status, answer.body]).toEqual([status, { detail }]);
  if (status === 418) for (const { headers } of answers) expect(headers['x-pot']).toBe('tea');
  const errors = server.log.flatMap(({ fields }) =>
    fields['error'] instanceof Error ? fields['error'] : [],
  );
  expect(errors.map(({ stack }) => stack?.includes('auth.mjs'))).toEqual(status === 500 ? [true, true] : []);
});

test('an invalid filter of a handler in a host is an error and matches no row', async () => {
  await using server = await served(AUTH);
  expect((await create(server, { act: 'match nothing in particular' })).status).toBe(500);
});

test('a handler that ends its host gets a 503 with the reason, and other hosts are unaffected', async () => {
  await using server = await served(AUTH, '2');
  const ready = async () => (await server.get('/info')).body.server.hosts.ready;
  for (const endHost of [
    () => create(server, {}, bearer('end the process')),
    () => create(server, { act: 'end the process' }),
  ]) {
    // Hosts start one after the other, and the one that is ended starts again.
    await expect.poll(ready).toBe(2);
    const answer = await endHost();
    expect([answer.status, answer.body.detail]).toEqual([503, naming('code 3')]);
    expect(answer.headers['retry-after']).toBe('1');
    expect((await create(server, {})).status).toBe(200);
  }
  const ended = server.log.filter(({ message }) => message === 'a graph host ended');
  expect(ended.length).toBe(2);
});

test.each([
  ['authenticate', (server: Served) => create(server, {}, bearer('never answer'))],
  ['of threads:create', (server: Served) => create(server, { act: 'never answer' })],
])('a handler that never answers is a 503 after seconds: %s', async (handler, ask) => {
  await using server = await served(AUTH);
  const { status, body, headers } = await ask(server);
  expect([status, headers['retry-after']]).toEqual([503, '1']);
  expect(body.detail).toEqual(naming(handler, '5 seconds'));
});

test('a handler that blocks its host is a 503 after seconds, other requests are served, and the host is replaced', async () => {
  await using server = await served(AUTH, '2');
  const { status, body } = await create(server, {}, bearer('block for ever'));
  expect([status, body.detail]).toEqual([503, naming('5 seconds')]);
  // A host that is known to be blocked is not asked.
  expect((await create(server, {})).status).toBe(200);
  await expect
    .poll(() => server.log.map(({ fields }) => String(fields['reason'])))
    .toContainEqual(expect.stringMatching(/code at .*auth\.mjs:\d+:\d+ blocks its event loop/));
});

test('while a node computes, handlers execute in the other host', async () => {
  await using server = await served(AUTH, '2');
  const wait = server.post('/runs/wait', { assistant_id: 'compute', input: { block_ms: 8000 } }, ANN);
  const isBlocked = ({ message }: { message: string }) =>
    message.includes('event loop of a graph host is blocked');
  await expect.poll(() => server.log.some(isBlocked)).toBe(true);
  const { body } = await create(server, {}, bearer('note'));
  const [pid] = body.metadata.pids;
  expect(body.metadata.pids).toEqual([pid, pid]);
  expect((await wait).status).toBe(200);
  expect(readFileSync(server.folder.path('noted.pids'), 'utf8')).toBe(`${pid}\n`);
});

test('a request whose host dies for an unknown reason is authenticated by another host', async () => {
  await using server = await served(AUTH, '2');
  expect((await create(server, {}, bearer('die the first time'))).status).toBe(200);
  expect(server.log.filter(({ message }) => message === 'a graph host ended')).toHaveLength(1);
});

test('an embedder that ends its host is a 503, and so is one that returns no vectors', async () => {
  await using server = await served(STORE);
  const put = (text: string) =>
    server.send('PUT', '/store/items', { namespace: ['n'], key: 'k', value: { text } });
  expect((await put('end the process')).status).toBe(503);
  expect((await put('nothing')).body.detail).toEqual(naming('vector', '1 texts'));
  expect((await put('fine')).status).toBe(204);
});

test('a UI bundle that exceeds the message limit is refused with the reason', async () => {
  await using server = await served(UI);
  const text = 'x'.repeat(61 * 1024 * 1024);
  await server.folder.write({ 'ui/card.tsx': `export default { card: () => '${text}' };` });
  const { status, body } = await server.post('/ui/card', { name: 'card' });
  expect(status).toBe(422);
  expect(body.detail).toEqual(naming("'card'", 62_914_560));
});

test.each([
  ['auth: { path: ./auth.mjs:none }\n', "agent.config.yaml: auth.path: ./auth.mjs has no export 'none'"],
  ['mcp: { app: ./mcp.mjs:none }\n', "agent.config.yaml: mcp.app: ./mcp.mjs has no export 'none'"],
  [
    'store: { index: { dims: 2, embed: ./none.mjs:embed } }\n',
    'agent.config.yaml: store.index.embed: there is no file ./none.mjs',
  ],
])('%s keeps a server from starting, as in its own process', async (config, message) => {
  await expect(served(config, '2')).rejects.toThrow(message);
  await expect(served(config, '0')).rejects.toThrow(message);
});
