import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { addressOf, type Operation, operationsOf } from '../support/operations.ts';

const folder = resolve(import.meta.dirname, '../fixtures/conversing-graphs');
/** Given to the model, and not part of the state of the thread. */
const [SYSTEM, TOOL] = ['Be brief.', 'Searches the notes.'];
/** In the input of the run and in the state of its thread, which operations of the official API show. */
const [PROMPT, ANSWER] = ['A needle in a haystack.', 'Tea it is.'];

const SHOW_STEPS = ['get_run_step', 'get_stateless_run_step'];
const SHOW_STATE = [
  ...['get_thread', 'get_thread_history', 'get_thread_state', 'get_thread_state_at_checkpoint'],
  ...['search_thread_history', 'search_threads', 'get_run', 'join_run', 'list_runs'],
];

/** Streams that do not end with the run. */
const ENDLESS = new Set(['watch_changes', 'watch_logs', 'watch_server_logs', 'join_thread_stream']);
/** They change nothing, and can be sent without knowing more than ids. */
const isRead = ({ id, method }: Operation) =>
  !ENDLESS.has(id) && (method === 'GET' || /^(search|count)_/.test(id));

test('prompts and answers are in no list, count, log or metric, but in steps and in states of their thread', async () => {
  const environment = { AGENT_SERVER_RECORD: 'contents' };
  await using http = await openApp({ graphs: ['conversing'], folder, environment });
  const thread_id = await http.thread();
  const body = { assistant_id: 'conversing', input: { messages: [{ role: 'user', content: PROMPT }] } };
  const { headers } = await http.post(`/threads/${thread_id}/runs/wait`, body);
  await http.post('/runs/wait', body);
  const run_id = String(headers['content-location']).split('/')[4] as string;
  const { steps } = (await http.get(`/runs/${run_id}/steps`)).body;
  const model = steps.find(({ kind }: { kind: string }) => kind === 'model');
  const { checkpoint_id } = (await http.get(`/threads/${thread_id}/state`)).body.checkpoint;
  const ids = {
    thread_id,
    run_id,
    checkpoint_id,
    assistant_id: 'conversing',
    step_id: `${model.attempt}.${model.number}`,
  };

  const operations = operationsOf((await http.get('/openapi.json')).body).filter(isRead);
  expect(operations.length).toBeGreaterThan(40);
  const shown: [id: string, text: string][] = [];
  for (const operation of operations) {
    const sent =
      operation.method === 'GET' ? undefined : operation.id === 'search_runs' ? { with_removed: true } : {};
    const { text } = await http.send(operation.method, addressOf(operation, ids), sent);
    shown.push([operation.id, text]);
  }
  const showing = (...texts: string[]) =>
    shown.flatMap(([id, text]) => (texts.some((each) => text.includes(each)) ? [id] : [])).sort();
  expect(showing(SYSTEM, TOOL)).toEqual(SHOW_STEPS);
  expect(showing(PROMPT, ANSWER)).toEqual([...SHOW_STATE, ...SHOW_STEPS].sort());
  const log = JSON.stringify(http.log);
  for (const text of [SYSTEM, TOOL, PROMPT, ANSWER]) expect(log).not.toContain(text);
});
