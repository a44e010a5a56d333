import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';
import { until } from '../support/until.ts';

type App = Awaited<ReturnType<typeof openApp>>;
let app: App;
beforeAll(async () => {
  app = await openApp({ graphs: ['chat', 'interrupting', 'nested', 'sleeper'] });
});
afterAll(() => app[Symbol.asyncDispose]());

async function command(thread_id: string, method: string, params?: unknown, id = 1) {
  return (await app.post(`/threads/${thread_id}/commands`, { id, method, params })).body;
}

/** A new thread on which a graph has run to its end, or to its question. */
async function ran(assistant_id: string, input: object): Promise<string> {
  const thread_id = randomUUID();
  await command(thread_id, 'run.start', { assistant_id, input });
  await idle(thread_id);
  return thread_id;
}

async function idle(thread_id: string): Promise<void> {
  await until(
    'the run has ended',
    async () => (await app.get(`/threads/${thread_id}`)).body.status !== 'busy',
  );
}

async function values(thread_id: string) {
  return (await app.get(`/threads/${thread_id}/state`)).body.values;
}

async function interruptOf(thread_id: string): Promise<string> {
  const { interrupts } = (await app.get(`/threads/${thread_id}`)).body;
  return (Object.values(interrupts).flat()[0] as { id: string }).id;
}

const hello = { messages: [{ role: 'user', content: 'hello' }] };

test('run.start creates a thread and a run on it', async () => {
  const thread_id = randomUUID();
  const answer = await command(thread_id, 'run.start', { assistant_id: 'chat', input: hello }, 7);
  expect(answer).toEqual({
    type: 'success',
    id: 7,
    result: { run_id: expect.any(String) },
    meta: { thread_id, applied_through_seq: expect.any(Number) },
  });
  const run = (await app.get(`/threads/${thread_id}/runs/${answer.result.run_id}`)).body;
  expect(run.kwargs).toMatchObject({ subgraphs: true, resumable: true });
  await idle(thread_id);
  expect((await values(thread_id)).messages).toHaveLength(2);
});

test.for(['multitask_strategy', 'multitaskStrategy'])(
  'run.start accepts a multitask strategy as %s',
  async (name) => {
    const thread_id = randomUUID();
    const first = await command(thread_id, 'run.start', { assistant_id: 'sleeper', input: { ms: 60_000 } });
    const refused = await command(thread_id, 'run.start', {
      assistant_id: 'chat',
      input: hello,
      [name]: 'reject',
    });
    expect(refused).toMatchObject({
      type: 'error',
      error: 'unknown_error',
      message: expect.stringMatching(/^409: /),
    });
    await app.post(`/threads/${thread_id}/runs/${first.result.run_id}/cancel?wait=1`);
  },
);

test('run.start answers the waiting interrupt, unless it forks', async () => {
  const thread_id = await ran('interrupting', { x: 1 });
  await command(thread_id, 'run.start', { assistant_id: 'interrupting', input: 'yes' });
  await idle(thread_id);
  expect((await values(thread_id)).log).toEqual(['a:1', 'b:"yes"']);

  const { checkpoints } = (await command(thread_id, 'state.listCheckpoints', { limit: 100 })).result;
  const config = { configurable: { checkpoint_id: checkpoints.at(-1).id } };
  await command(thread_id, 'run.start', { assistant_id: 'interrupting', input: { x: 2 }, config });
  await idle(thread_id);
  expect((await values(thread_id)).log).toEqual(['a:2']);
});

test('input.respond answers by id, with an optional state update', async () => {
  const thread_id = await ran('interrupting', { x: 1 });
  const interrupt_id = await interruptOf(thread_id);
  const params = { namespace: [], interrupt_id, response: 'ok', update: { x: 9 } };
  expect(await command(thread_id, 'input.respond', params)).toMatchObject({ type: 'success', result: {} });
  await idle(thread_id);
  expect(await values(thread_id)).toEqual({ x: 9, log: ['a:1', 'b:"ok"'] });
});

test('input.respond accepts a list of answers, and an answer before the interrupted run has ended', async () => {
  const thread_id = randomUUID();
  await command(thread_id, 'run.start', { assistant_id: 'nested', input: { ask: true } });
  await until(
    'it asks',
    async () => (await app.get(`/threads/${thread_id}/state`)).body.tasks?.[0]?.interrupts?.length > 0,
  );
  const [{ interrupts }] = (await app.get(`/threads/${thread_id}/state`)).body.tasks;
  const responses = [{ namespace: [], interrupt_id: interrupts[0].id, response: 'me' }];
  expect(await command(thread_id, 'input.respond', { responses })).toMatchObject({ type: 'success' });
  await idle(thread_id);
  expect((await values(thread_id)).log).toContain('child:"me"');
});

test('input.respond waits for the interrupted run although a run for later was cancelled', async () => {
  const thread_id = await app.thread();
  const later = { assistant_id: 'nested', input: {}, after_seconds: 1000 };
  const { run_id } = (await app.post(`/threads/${thread_id}/runs`, later)).body;
  await app.post(`/threads/${thread_id}/runs/${run_id}/cancel?wait=1`);
  await command(thread_id, 'run.start', { assistant_id: 'nested', input: { ask: true } });
  const asked = async () => (await app.get(`/threads/${thread_id}/state`)).body.tasks?.[0]?.interrupts?.[0];
  await until('it asks', async () => (await asked()) !== undefined);
  const params = { namespace: [], interrupt_id: (await asked()).id, response: 'me' };
  expect(await command(thread_id, 'input.respond', params)).toMatchObject({ type: 'success' });
  await idle(thread_id);
  expect((await values(thread_id)).log).toContain('child:"me"');
});

test('a client that joins an interrupted run gets its values and the interrupt', async () => {
  const thread_id = randomUUID();
  const { result } = await command(thread_id, 'run.start', { assistant_id: 'nested', input: { ask: true } });
  const joined = await app.get(`/threads/${thread_id}/runs/${result.run_id}/join`);
  expect(joined.body).toEqual({
    ask: true,
    log: ['first'],
    __interrupt__: [{ id: await interruptOf(thread_id), value: { question: 'from the child' } }],
  });
});

test('input.inject adds a message for the graph', async () => {
  const thread_id = await ran('chat', hello);
  const message = { role: 'user', content: 'more' };
  expect(await command(thread_id, 'input.inject', { namespace: [], message })).toMatchObject({ result: {} });
  await idle(thread_id);
  expect((await values(thread_id)).messages.map((each: { content: string }) => each.content)).toEqual([
    'hello',
    'You said: hello',
    'more',
    'You said: more',
  ]);
});

test('agent.getTree returns the graphs of a run', async () => {
  const thread_id = await ran('nested', {});
  const { tree } = (await command(thread_id, 'agent.getTree')).result;
  expect(tree).toMatchObject({ namespace: [], status: 'completed', graph_name: 'nested' });
  expect(tree.children).toEqual([
    { namespace: [expect.stringMatching(/^child:/)], status: 'completed', graph_name: 'child' },
  ]);
});

test('state.get returns the state of a graph, complete or in part, and of an interrupted subgraph', async () => {
  const thread_id = await ran('nested', { ask: true });
  const { result } = await command(thread_id, 'state.get', { namespace: [], keys: ['log'] });
  expect(result).toEqual({ values: { log: ['first'] }, checkpoint: { id: expect.any(String), ns: '' } });
  const below = await command(thread_id, 'state.get', { namespace: ['child'] });
  expect(below.result.values).toMatchObject({ ask: true });
});

test('state.fork starts a run from an earlier checkpoint', async () => {
  const thread_id = await ran('chat', hello);
  const { checkpoints } = (await command(thread_id, 'state.listCheckpoints', { limit: 100 })).result;
  const oldest = checkpoints.at(-1);
  expect(oldest).toMatchObject({ id: expect.any(String), timestamp: expect.any(String), step: -1 });
  const { result } = await command(thread_id, 'state.fork', { checkpoint_id: oldest.id, input: hello });
  expect(result).toEqual({ run_id: expect.any(String), thread_id });
  await idle(thread_id);
  expect((await values(thread_id)).messages).toHaveLength(2);
});

test.for([
  ['run.start', {}, 'invalid_argument'],
  ['run.start', { assistant_id: 'chat', input: {}, config: { configurable: 'abc' } }, 'invalid_argument'],
  ['run.start', { assistant_id: 'nope', input: {} }, 'unknown_error'],
  [
    'run.start',
    { assistant_id: 'chat', config: { configurable: { checkpoint_id: 'nope' } } },
    'no_such_checkpoint',
  ],
  ['input.respond', {}, 'invalid_argument'],
  ['input.respond', { interrupt_id: 'nope', response: 1 }, 'no_such_interrupt'],
  ['input.inject', { message: 'text' }, 'invalid_argument'],
  ['input.inject', { namespace: ['child'], message: { role: 'user', content: 'x' } }, 'not_supported'],
  ['agent.getTree', { run_id: '00000000-0000-0000-0000-000000000000' }, 'no_such_run'],
  ['state.get', { namespace: ['nope'] }, 'no_such_namespace'],
  ['state.fork', { checkpoint_id: 'nope' }, 'no_such_checkpoint'],
  ['subscription.subscribe', { channels: [] }, 'invalid_argument'],
  ['subscription.subscribe', { channels: ['bogus'] }, 'invalid_argument'],
  ['subscription.unsubscribe', { subscription_id: 'nope' }, 'no_such_subscription'],
  ['subscription.unsubscribe', {}, 'invalid_argument'],
  ['subscription.reconnect', {}, 'invalid_argument'],
  ['run.dance', {}, 'unknown_command'],
  ['constructor', {}, 'unknown_command'],
] as const)('command %s with %j fails as %s', async ([method, params, error]) => {
  const thread_id = await ran('chat', hello);
  expect(await command(thread_id, method, params, 3)).toEqual({
    type: 'error',
    id: 3,
    error,
    message: expect.any(String),
  });
});

test('a thread without runs has no interrupt to answer and no state', async () => {
  for (const [method, params] of [
    ['agent.getTree', {}],
    ['input.respond', { interrupt_id: 'x' }],
    ['state.fork', { checkpoint_id: 'x' }],
  ] as const) {
    expect(await command(randomUUID(), method, params)).toMatchObject({ error: 'no_such_run' });
  }
});

test('a subscription command over HTTP is accepted without effect', async () => {
  const answer = await command(randomUUID(), 'subscription.subscribe', { channels: ['values'] });
  expect(answer.result).toEqual({ subscription_id: expect.any(String), replayed_events: 0 });
});

test('an invalid command over HTTP is 400', async () => {
  const path = `/threads/${randomUUID()}/commands`;
  for (const [body, id] of [
    [{ id: 'a', method: 'run.start' }, null],
    [{ id: 4 }, 4],
    [[], null],
  ] as const) {
    const { status, body: answer } = await app.post(path, body);
    expect([status, answer]).toEqual([
      400,
      {
        type: 'error',
        id,
        error: 'invalid_argument',
        message: 'Protocol commands must include an integer id and string method.',
      },
    ]);
  }
  const broken = await app.post(path, '{');
  expect([broken.status, broken.body]).toEqual([400, { detail: 'Invalid JSON body' }]);
  expect((await app.post('/threads/x/commands', { id: 1, method: 'run.start' })).status).toBe(422);
});
