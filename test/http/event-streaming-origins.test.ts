import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { essence, toldOf } from '../support/told-events.ts';

let app: Awaited<ReturnType<typeof openApp>>;
let http: HttpClient;
beforeAll(async () => {
  app = await openApp({ graphs: ['chat', 'delegates', 'fails-first', 'interrupting', 'tokens'] });
  http = httpClient((await app.app.listen()).url);
});
afterAll(() => app[Symbol.asyncDispose]());

const told = (thread_id: string, since?: number) => toldOf(http, thread_id, since);

type Start = (thread_id: string, run: { assistant_id: string; input: object }) => Promise<unknown>;

const runs = (kind: string, fields: object = {}): Start => {
  return (thread_id, run) => app.post(`/threads/${thread_id}/runs${kind}`, { ...run, ...fields });
};

const COMMAND: Start = (thread_id, params) =>
  app.post(`/threads/${thread_id}/commands`, { id: 1, method: 'run.start', params });

/** Ways to start a run whose states are logged. */
const WITH_STATES: Readonly<Record<string, Start>> = {
  'runs.create': runs(''),
  'runs.wait': runs('/wait'),
  'runs.stream': runs('/stream'),
  'runs.stream with tokens': runs('/stream', { stream_mode: ['values', 'messages-tuple'] }),
  'runs.stream with messages': runs('/stream', { stream_mode: ['values', 'messages'] }),
  'runs.stream with subgraphs': runs('/stream', { stream_subgraphs: true }),
  'a cron': async (thread_id, run) => {
    const { body } = await app.post(`/threads/${thread_id}/runs/crons`, { ...run, schedule: '0 0 1 1 *' });
    return app.post(`/runs/crons/${body.cron_id}/trigger`, {});
  },
};

const WITHOUT_STATES: Readonly<Record<string, Start>> = {
  'runs.stream of tokens': runs('/stream', { stream_mode: ['messages-tuple'] }),
  'runs.stream of updates': runs('/stream', { stream_mode: ['updates'] }),
};

async function started(start: Start, assistant_id: string, input: object) {
  const thread_id = await app.thread();
  await start(thread_id, { assistant_id, input });
  return told(thread_id);
}

const HI = { messages: [{ role: 'user', content: 'hi', id: 'hi' }] };

describe.for(Object.entries(WITH_STATES))('a run started by %s', ([_, start]) => {
  test.for([
    ['delegates', HI],
    ['tokens', { count: 3, messages: [] }],
    ['interrupting', { x: 1 }],
  ] as const)('emits the same events as one started by run.start: graph %s', async ([graph, input]) => {
    const expected = essence(await started(COMMAND, graph, input));
    expect(expected.length).toBeGreaterThan(3);
    expect(essence(await started(start, graph, input))).toEqual(expected);
  });
});

test.for(Object.entries(WITHOUT_STATES))('%s emits all events except the states', async ([_, start]) => {
  const withoutStates = async (by: Start) => essence(await started(by, 'delegates', HI), { states: false });
  expect(await withoutStates(start)).toEqual(await withoutStates(COMMAND));
});

test('tokens of a streaming run arrive one by one over event streaming', async () => {
  const events = await started(WITHOUT_STATES['runs.stream of tokens'] as Start, 'tokens', { count: 3 });
  const deltas = events.filter(({ params }) => params.data.event === 'content-block-delta');
  expect(deltas.map(({ params }) => params.data.delta.text)).toEqual(['t0 ', 't1 ', 't2 ']);
});

test('a client that joins during a run gets the same events as one from its start', async () => {
  const thread_id = await app.thread();
  await app.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'delegates', input: HI });
  const all = await told(thread_id);
  expect(new Set(all.map(({ event_id }) => event_id)).size).toBe(all.length);
  for (const since of new Set(all.map(({ seq }) => seq))) {
    if (since === all.at(-1)?.seq) continue;
    expect(await told(thread_id, since)).toEqual(all.filter(({ seq }) => seq > since));
  }
});

test('the last state event of an ended run is its final state', async () => {
  const thread_id = await app.thread();
  await app.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'delegates', input: HI });
  const [run] = (await app.get(`/threads/${thread_id}/runs`)).body;
  const states = (await told(thread_id)).filter(({ method }) => method === 'values');
  expect(states.map(({ params }) => new Date(params.timestamp).toISOString())).toEqual([
    ...states.slice(1).map(() => run.created_at),
    run.updated_at,
  ]);
});

test('streams by mode do not contain the notes about subgraphs', async () => {
  const thread_id = await app.thread();
  const body = { assistant_id: 'delegates', input: HI };
  const { events } = await http.stream('POST', `/threads/${thread_id}/runs/stream`, { body });
  const names = (await Array.fromAsync(events)).map(({ event }) => event);
  expect(new Set(names)).toEqual(new Set(['metadata', 'values']));
});

test('agent.getTree names the subgraphs of a run that was not started by a command', async () => {
  const thread_id = await app.thread();
  await app.post(`/threads/${thread_id}/runs/wait`, { assistant_id: 'delegates', input: HI });
  const { body } = await app.post(`/threads/${thread_id}/commands`, { id: 1, method: 'agent.getTree' });
  expect(body.result.tree).toMatchObject({
    status: 'completed',
    graph_name: 'delegates',
    children: [{ status: 'completed', graph_name: 'helper' }],
  });
});

test('a graph that throws in its first node synchronously emits no state before its failure', async () => {
  const events = await started(COMMAND, 'fails-first', { ...HI, waits: false });
  expect(events.map(({ method, params }) => params.data.event ?? method)).toEqual(['running', 'failed']);
});

test('a graph that throws in its first node asynchronously emits its state before its failure', async () => {
  const events = await started(COMMAND, 'fails-first', { ...HI, waits: true });
  expect(events.map(({ method, params }) => params.data.event ?? method)).toEqual([
    'running',
    'values',
    'failed',
  ]);
});
