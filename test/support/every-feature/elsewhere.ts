import { randomUUID } from 'node:crypto';
import type { Receiver } from '../receiver.ts';
import { until } from '../until.ts';
import { secret, type Talk } from './talk.ts';

const say = (place: string) => ({ messages: [{ role: 'user', id: 'said', content: secret(place) }] });
const YEARLY = { assistant_id: 'keeper', schedule: '0 0 1 1 *' };

/** What has no thread of its own: assistants, the store, crons, webhooks, other doors. */
export function elsewhere(hook: Receiver): Record<string, (talk: Talk) => Promise<unknown>> {
  return {
    assistants: assistants,
    'runs without a thread': statelessRuns,
    'the store': store,
    crons: crons,
    webhooks: (talk) => webhooks(talk, hook),
    A2A: (talk) => a2a(talk, hook),
    MCP: mcp,
    'the OpenAI door': openai,
  };
}

async function assistants(talk: Talk) {
  const config = { configurable: { taste: secret('assistant config') } };
  const { assistant_id } = (await talk.post('/assistants', { graph_id: 'keeper', config })).body;
  const context = { taste: secret('assistant context') };
  const patched = await talk.send('PATCH', `/assistants/${assistant_id}`, { context, config: {} });
  const versions = await talk.post(`/assistants/${assistant_id}/versions`, {});
  const thread_id = await talk.thread();
  const run = await talk.post(`/threads/${thread_id}/runs/wait`, {
    assistant_id,
    input: say('by assistant'),
  });
  return [patched, versions, run];
}

async function statelessRuns(talk: Talk) {
  const run = { assistant_id: 'keeper', on_completion: 'keep' };
  const one = await talk.post('/runs/wait', { ...run, input: say('stateless') });
  const batch = [
    { ...run, input: say('batch one') },
    { ...run, input: say('batch two') },
  ];
  const made = await talk.post('/runs/batch', batch);
  for (const { thread_id, run_id } of made.body) await talk.get(`/threads/${thread_id}/runs/${run_id}/join`);
  return [one, made.status, made.body.length];
}

async function store(talk: Talk) {
  const namespace = ['people', 'ada'];
  const put = (key: string, value: object) => talk.send('PUT', '/store/items', { namespace, key, value });
  await put('tea', { text: `likes ${secret('store value')}`, cups: 3, tags: [secret('store tag')] });
  await put('milk', { text: 'no milk', cups: 10, owner: { name: secret('store owner') } });
  await put('cake', { text: 'much cake', cups: 7, [secret('store name')]: true });
  const search = async (query: object) => {
    const { body } = await talk.post('/store/items/search', { namespace_prefix: ['people'], ...query });
    return body.items.map(({ key, score }: { key: string; score?: number }) => [key, score ?? null]);
  };
  return [
    await talk.get('/store/items?namespace=people.ada&key=tea'),
    await search({ query: secret('store value') }),
    await search({ query: `"likes ${secret('store value')}" -milk` }),
    await search({ filter: { tags: [secret('store tag')] } }),
    await search({ filter: { owner: { name: secret('store owner') } } }),
    await search({ filter: { [secret('store name')]: true } }),
    await search({ filter: { cups: { $ne: 3 } } }),
    await search({ filter: { cups: { $gt: 3, $lte: 10 }, text: { $lt: 'n' } } }),
    await search({ query: 'cake milk', filter: { cups: { $gte: 10 } } }),
    (await talk.post('/store/namespaces', { prefix: ['people'] })).body,
  ];
}

async function crons(talk: Talk) {
  const config = { configurable: { flavour: secret('cron config') } };
  const cron = (await talk.post('/runs/crons', { ...YEARLY, input: say('cron input'), config })).body;
  const thread_id = await talk.thread();
  const onThread = await talk.post(`/threads/${thread_id}/runs/crons`, {
    ...YEARLY,
    input: say('thread cron'),
  });
  const patched = await talk.send('PATCH', `/runs/crons/${cron.cron_id}`, { input: say('cron patch') });
  const triggered = await talk.post(`/runs/crons/${onThread.body.cron_id}/trigger`, {});
  await talk.get(`/threads/${thread_id}/runs/${triggered.body.run_id}/join`);
  return [
    onThread,
    patched,
    triggered.status,
    (await talk.get(`/threads/${thread_id}/state`)).body.values,
    (await talk.post('/runs/crons/search', { sort_by: 'created_at', sort_order: 'asc' })).body,
  ];
}

async function webhooks(talk: Talk, hook: Receiver) {
  const thread_id = await talk.thread();
  const path = `/${secret('webhook path')}`;
  const address = `${hook.url}${path}?key=${secret('webhook query')}`;
  hook.answers.push((_request, response) => {
    // The time of the answer differs from server to server.
    response.sendDate = false;
    const headers = { 'x-refused': secret('webhook header') };
    response.writeHead(400, headers).end(`no ${secret('webhook answer')}`);
  });
  const before = hook.received.length;
  await talk.wait(thread_id, { input: say('webhook body'), webhook: address });
  await hook.came(before + 1);
  const deliveries = `/webhooks/deliveries?url=${encodeURIComponent(hook.url + path)}`;
  const find = async () => (await talk.get(deliveries)).body;
  await until('it was tried', async () => (await find())[0]?.status === 'dead');
  const [delivery] = await find();
  const { attempts } = (await talk.get(`/webhooks/deliveries/${delivery.delivery_id}`)).body;
  const { path: called, body } = hook.received[before] as Receiver['received'][number];
  const none = await talk.get('/webhooks/deliveries?url=http://elsewhere.example');
  return [called, body, delivery, attempts.map((each: object) => ({ ...each, duration_ms: 0 })), none];
}

async function a2a(talk: Talk, hook: Receiver) {
  // A busy server answers before it knows them, without the fields of the output.
  await talk.get('/assistants/keeper/schemas');
  const rpc = (method: string, params: object) =>
    talk.post('/a2a/keeper', { jsonrpc: '2.0', id: 1, method, params }, { 'a2a-version': '1.0' });
  const subscriber = {
    url: `${hook.url}/${secret('push path')}`,
    token: secret('push token'),
    authentication: { scheme: 'Bearer', credentials: secret('push credentials') },
  };
  const before = hook.received.length;
  const sent = await rpc('SendMessage', {
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: secret('a2a message') }] },
    configuration: { taskPushNotificationConfig: subscriber },
  });
  const { id } = sent.body.result.task;
  await until('its end was told', () =>
    hook.received.slice(before).some(({ text }) => /COMPLETED/.test(text)),
  );
  const last = hook.received.at(-1) as Receiver['received'][number];
  const { authorization, 'x-a2a-notification-token': token } = last.headers;
  return [
    sent,
    await rpc('GetTask', { id, historyLength: 10 }),
    (await rpc('ListTasks', {})).body.result.totalSize,
    await rpc('ListTaskPushNotificationConfigs', { taskId: id }),
    [last.path, authorization, token, last.body],
  ];
}

async function mcp(talk: Talk) {
  const params = { name: 'keeper', arguments: { messages: secret('mcp call') } };
  const accept = { accept: 'application/json, text/event-stream' };
  return talk.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, accept);
}

async function openai(talk: Talk) {
  const messages = [{ role: 'user', content: secret('openai message') }];
  const answer = await talk.post(
    '/v1/chat/completions',
    { model: 'keeper', messages },
    { 'x-thread-id': 'chat' },
  );
  return answer.body.choices;
}
