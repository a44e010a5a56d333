import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { EXAMPLES } from '../../src/schemas/request-params.ts';
import { openApp } from '../support/app.ts';
import { receiver } from '../support/receiver.ts';
import type { OpenApiDocument, Operation } from './openapi-differences.ts';

const KEY = { 'x-api-key': 'operator' };
const http = await openApp({
  graphs: ['echo', 'nested', 'interrupting', 'sleeper'],
  environment: {
    LANGGRAPH_WEBHOOKS: '{"url": {"disable_loopback": false}}',
    // Tokens are made with a key.
    AGENT_SERVER_API_KEYS: 'operator',
    AGENT_SERVER_RECORD: 'contents',
    LANGGRAPH_UI: '{"weather": "./weather-ui.tsx"}',
  },
});
const hook = await receiver();
afterAll(async () => {
  await http[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

const { paths, components } = (await http.get('/openapi.json')).body as OpenApiDocument;

/** A schema of the document as one that stands alone. */
function standalone(schema: object): z.ZodType {
  const text = JSON.stringify({ ...schema, $defs: components.schemas });
  return z.fromJSONSchema(JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')));
}

const described = new Map<string, Operation & { method: string; path: string }>();
for (const [path, methods] of Object.entries(paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    described.set(String(operation['operationId']), { ...operation, method: method.toUpperCase(), path });
  }
}
const visited = new Set<string>();

/** Calls an operation as the document has it, checks the answer against it, and returns the answer. */
async function call(operationId: string, values: Record<string, string> = {}, payload?: unknown) {
  const { method, path, responses, requestBody } = described.get(operationId) as never;
  const route = (path as string).replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? `no ${name}`);
  const url = values['query'] ? `${route}?${values['query']}` : route;
  const example = (requestBody as Operation['requestBody'])?.content['application/json']?.example;
  const answer = await http.send(method, url, payload ?? example, KEY);
  const response = (responses as Operation['responses'])[String(answer.status)];
  expect([operationId, answer.status, response]).toEqual([operationId, answer.status, expect.any(Object)]);
  expect([operationId, answer.status < 300, answer.text]).toEqual([operationId, true, answer.text]);
  const [type, media] = Object.entries(response?.content ?? {})[0] ?? [];
  if (type) expect(answer.headers['content-type']).toContain(type);
  else expect(answer.text).toBe('');
  if (media && type === 'application/json') {
    expect([operationId, standalone(media.schema).safeParse(answer.body).error]).toEqual([
      operationId,
      undefined,
    ]);
  }
  visited.add(operationId);
  return answer;
}

/** Streams without an end of their own; their events have tests of their own. */
const ENDLESS = [
  'join_thread_stream',
  'protocol_thread_events_post',
  'watch_changes',
  'watch_logs',
  'watch_server_logs',
];

const thread = { thread_id: EXAMPLES.thread_id };
const own = { assistant_id: EXAMPLES.assistant_id };
const RUN = { assistant_id: 'interrupting', input: { x: 1 } };
const SLEEP = { assistant_id: 'sleeper', input: { ms: 60_000 } };

test('every response matches the document, and its examples work in order', async () => {
  for (const system of [
    'get_health',
    'get_root',
    'get_info',
    'get_metrics',
    'get_system_overview',
    'get_system_history',
    'list_leases',
    'create_token',
  ])
    await call(system);
  await call('create_studio_session', {}, { key: KEY['x-api-key'] });
  for (const session of ['get_studio_session', 'delete_studio_session']) await call(session);

  const { body: key } = await call('create_key');
  for (const manage of ['list_keys', 'delete_key']) await call(manage, key);

  await call('create_assistant');
  for (const find of ['search_assistants', 'count_assistants']) await call(find);
  for (const change of ['get_assistant', 'patch_assistant']) await call(change, own);
  for (const version of ['search_assistant_versions', 'set_latest_assistant_version'])
    await call(version, own);
  const nested = { assistant_id: 'nested', namespace: 'child' };
  for (const noun of ['graph', 'schemas', 'subgraphs', 'subgraph'])
    await call(`get_assistant_${noun}`, nested);
  await call('list_assistant_nodes', nested);

  await call('put_item');
  await call('get_item', { query: 'namespace=memories.ada&key=coffee' });
  for (const find of ['search_items', 'list_namespaces', 'delete_item']) await call(find);

  await call('load_ui_component', { assistant_id: 'weather' });
  await call('get_ui_file', { assistant_id: 'weather', file: 'entrypoint.js' });

  await call('create_thread');
  await call('wait_run', thread, RUN);
  for (const read of ['get_thread', 'explain_thread', 'get_thread_state', 'get_thread_history', 'list_runs'])
    await call(read, thread);
  for (const read of ['search_thread_history', 'get_thread_state_at_checkpoint_post'])
    await call(read, thread);
  for (const find of ['search_threads', 'count_threads', 'search_runs', 'count_runs']) await call(find);
  await call('search_runs', {}, {});
  for (const find of ['search_interrupts', 'search_interrupt_answers', 'count_interrupts']) await call(find);
  const { body: state } = await call('get_thread_state', thread);
  await call('get_thread_state_at_checkpoint', { ...thread, ...state.checkpoint });
  await call('update_thread_state', thread, { values: { x: 2 }, as_node: 'before' });
  await call('protocol_thread_command_post', thread);
  await call('patch_thread', thread);
  await call('patch_thread_state', thread);
  for (const read of ['get_thread_storage', 'get_thread_tree']) await call(read, thread);
  await call('prune_threads');

  const { body: run } = await call('create_run', thread, SLEEP);
  const reads = [
    'get_run',
    'explain_run',
    'explain_stateless_run',
    'list_run_steps',
    'list_stateless_run_steps',
    'get_run_graph',
    'get_run_schemas',
    'get_run_subgraphs',
    'get_run_logs',
    'get_stateless_run_logs',
  ];
  for (const read of reads) await call(read, run);
  await call('get_usage');
  await call('get_budget_usage');
  await call('get_thread_usage', thread);
  await call('search_run_usage', {}, { run_ids: [run.run_id] });
  await call('cancel_run', run);
  await call('join_run', run);
  for (const watch of ['join_run_stream', 'join_stateless_run_stream']) await call(watch, run);
  await call('delete_run', run);
  await call('stream_run', thread, RUN);
  const [ended] = (await call('list_runs', thread)).body;
  const [step] = (await call('list_run_steps', ended)).body.steps;
  for (const read of ['get_run_step', 'get_stateless_run_step'])
    await call(read, { ...ended, step_id: `${step.attempt}.${step.number}` });

  for (const stateless of ['create_stateless_run', 'wait_stateless_run', 'stream_stateless_run']) {
    await call(stateless, {}, { assistant_id: 'echo', input: { x: 1 } });
  }
  await call('create_stateless_runs');

  await call('create_thread_cron', thread);
  const { body: cron } = await call('create_cron');
  for (const find of ['search_crons', 'count_crons']) await call(find);
  for (const change of [
    'get_cron',
    'patch_cron',
    'trigger_cron',
    'list_cron_runs',
    'explain_cron',
    'delete_cron',
  ])
    await call(change, cron);

  await http.post('/runs', { ...SLEEP, after_seconds: 600 }, KEY);
  await call('cancel_runs');
  const { body: delivery } = await call('test_webhook', {}, { url: hook.url });
  for (const look of ['search_deliveries', 'get_delivery', 'explain_delivery', 'redeliver'])
    await call(look, delivery);
  await call('copy_thread', thread);
  await call('delete_thread', thread);
  await call('mcp');
  await call('send_agent_message', { assistant_id: 'echo' });
  await call('get_agent_card', { query: 'assistant_id=echo' });
  await call('delete_assistant', own);
  const ending = [...described.keys()].filter((operationId) => !ENDLESS.includes(operationId));
  expect([...visited].sort()).toEqual(ending.sort());
});
