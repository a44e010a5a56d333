import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { addressOf, type Operation, operationsOf } from '../support/operations.ts';

const folder = resolve(import.meta.dirname, '../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const BOB = { authorization: 'Bearer bob-token' };
/** In everything that Alice makes. */
const MARK = 'only-for-alice';

type Server = Awaited<ReturnType<typeof openApp>>;

/** One of each thing that somebody can own. */
async function belongings(server: Server, headers: Record<string, string> = ALICE) {
  const metadata = { mark: MARK };
  const thread = await server.post('/threads', { metadata }, headers);
  const { thread_id } = thread.body;
  const input = { messages: [{ role: 'user', content: MARK }] };
  await server.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'echo', input, metadata }, headers);
  const run = { assistant_id: 'echo', input, metadata, after_seconds: 1000 };
  const { run_id } = (await server.post(`/threads/${thread_id}/runs`, run, headers)).body;
  const assistant = await server.post('/assistants', { graph_id: 'echo', metadata }, headers);
  const cron = { assistant_id: 'echo', schedule: '0 0 1 1 *', input, metadata };
  const { cron_id } = (await server.post('/runs/crons', cron, headers)).body;
  const item = { namespace: ['notes'], key: 'mine', value: { mark: MARK } };
  await server.send('PUT', '/store/items', item, headers);
  const state = await server.get(`/threads/${thread_id}/state`, headers);
  const { checkpoint_id } = state.body.checkpoint;
  return { thread_id, run_id, cron_id, checkpoint_id, assistant_id: assistant.body.assistant_id as string };
}

/** A body that reaches for what is Alice's. */
function bodyOf({ id, body }: Operation, ids: Record<string, string>): object | undefined {
  switch (id) {
    case 'cancel_runs':
      return { thread_id: ids['thread_id'], run_ids: [ids['run_id']] };
    case 'prune_threads':
      return { thread_ids: [ids['thread_id']] };
    case 'get_thread_state_at_checkpoint_post':
      return { checkpoint: { checkpoint_id: ids['checkpoint_id'] } };
    case 'update_thread_state':
      return { values: {} };
    case 'create_run':
    case 'wait_run':
    case 'stream_run':
      return { assistant_id: 'echo', input: {}, if_not_exists: 'create' };
    case 'create_stateless_run':
    case 'wait_stateless_run':
    case 'stream_stateless_run':
    case 'create_cron':
      return { ...body, assistant_id: ids['assistant_id'] };
    case 'create_stateless_runs':
      return [{ assistant_id: ids['assistant_id'], input: {} }];
    case 'create_thread':
      return { thread_id: ids['thread_id'], if_exists: 'do_nothing' };
    case 'create_assistant':
      return { assistant_id: ids['assistant_id'], graph_id: 'echo', if_exists: 'do_nothing' };
    case 'protocol_thread_command_post':
      return { id: 1, method: 'state.get', params: {} };
    case 'search_items':
    case 'list_namespaces':
    case 'search_threads':
    case 'search_assistants':
    case 'search_crons':
    case 'search_deliveries':
    case 'search_interrupts':
    case 'search_interrupt_answers':
    case 'count_interrupts':
    case 'search_runs':
    case 'count_runs':
    case 'count_threads':
    case 'count_assistants':
    case 'count_crons':
      return {};
    default:
      return body;
  }
}

/** Streams that never end have tests of their own: system-changes.test.ts and system-logs.test.ts. */
const ENDLESS = new Set(['watch_changes', 'watch_logs']);
/** What belongs to nobody, or to whoever calls. */
const NOBODYS = new Set([
  'create_token',
  'delete_item',
  'get_info',
  'get_item',
  'get_metrics',
  'get_ui_file',
  'get_usage',
  'get_budget_usage',
  'load_ui_component',
  'mcp',
  'put_item',
  'test_webhook',
]);
const EMPTY = new Set(['[]', '0', '{"currency":"USD","runs":[]}', '{"items":[]}', '{"namespaces":[]}']);

/**
 * Calls every operation for somebody with these headers, reaching for what belongs to somebody else: nothing of it may
 * come back. `own` are operations that show what the caller does have. Gives the number of those that told nothing.
 */
async function reachFor(
  server: Server,
  ids: Record<string, string>,
  { headers, own = [] }: { headers: Record<string, string>; own?: readonly string[] },
): Promise<number> {
  let calls = 0;
  for (const operation of operationsOf((await server.get('/openapi.json')).body)) {
    if (operation.open || ENDLESS.has(operation.id)) continue;
    const url = addressOf(operation, { ...ids, namespace: 'x' });
    const answer = await server.send(operation.method, url, bodyOf(operation, ids), headers);
    expect([operation.id, answer.text.includes(MARK)]).toEqual([operation.id, false]);
    if (NOBODYS.has(operation.id) || own.includes(operation.id)) continue;
    const isRefused = answer.status >= 400 && answer.status < 500;
    const isError = /"type":"error"|"error":\{"code":|^event: error|404: /.test(answer.text);
    const told = [operation.id, answer.status, answer.text.slice(0, 200)];
    expect([...told, isRefused || isError || EMPTY.has(answer.text)]).toEqual([...told, true]);
    calls += 1;
  }
  return calls;
}

test('no operation gives a user access to rows of another user', async () => {
  await using server = await openApp({ graphs: ['echo'], folder });
  const ids = await belongings(server);
  expect(await reachFor(server, ids, { headers: BOB })).toBeGreaterThan(60);

  const { thread_id, run_id, cron_id, assistant_id } = ids;
  expect((await server.get(`/threads/${thread_id}`, ALICE)).body.metadata.owner).toBe('alice');
  expect((await server.get(`/threads/${thread_id}/runs/${run_id}`, ALICE)).body.status).toBe('pending');
  expect((await server.get(`/runs/crons/${cron_id}`, ALICE)).body.metadata.mark).toBe(MARK);
  expect((await server.get(`/assistants/${assistant_id}`, ALICE)).body.version).toBe(1);
  expect((await server.get('/store/items?namespace=notes&key=mine', ALICE)).body.value).toEqual({
    mark: MARK,
  });
  expect((await server.get('/store/items?namespace=notes&key=mine', BOB)).body).toBeNull();
});

test.each([
  ['a thread', { thread_id: crypto.randomUUID() }, ['search_threads', 'count_threads']],
  [
    'an assistant',
    { assistant_id: 'counter' },
    ['search_assistants', 'count_assistants', 'list_models', 'get_agent_card'],
  ],
])('no operation gives a token for %s access to anything else', async (_limit, grant, own) => {
  const operator = { 'x-api-key': 'operator' };
  await using server = await openApp({
    graphs: ['echo', 'counter'],
    environment: { AGENT_SERVER_API_KEYS: 'operator' },
  });
  const ids = await belongings(server, operator);
  const { token } = (await server.post('/auth/tokens', grant, operator)).body;
  const headers = { authorization: `Bearer ${token}` };
  expect(await reachFor(server, ids, { headers, own })).toBeGreaterThan(60);
  expect((await server.get(`/assistants/${ids.assistant_id}`, operator)).body.version).toBe(1);
});

test('auth handlers can give each user a separate namespace of the store', async () => {
  await using server = await openApp({ graphs: ['echo'], folder });
  const item = { namespace: ['notes'], key: 'a', value: { text: 'mine' } };
  await server.send('PUT', '/store/items', item, ALICE);
  const found = await server.post('/store/items/search', { namespace_prefix: [] }, ALICE);
  expect(found.body.items).toMatchObject([{ namespace: ['alice', 'notes'], key: 'a' }]);
  expect((await server.post('/store/namespaces', {}, BOB)).body).toEqual({ namespaces: [] });
  await server.send('DELETE', '/store/items', { namespace: ['notes'], key: 'a' }, BOB);
  expect((await server.get('/store/items?namespace=notes&key=a', ALICE)).body.value).toEqual({
    text: 'mine',
  });
});
