import { afterAll, beforeAll, expect, test } from 'vitest';
import { message, readTypes, rpcTo } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';
import { askLegacy, askModern } from '../../support/mcp-messages.ts';

const GRAPH = 'chat-checked';
const UNKNOWN = 'f'.repeat(32);
const CAN = { capabilities: { elicitation: { form: {} } } };

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({ graphs: [GRAPH, 'interrupting'], http: { openai: { enabled: true } } });
  await readTypes(server, GRAPH);
});

afterAll(() => server[Symbol.asyncDispose]());

/** A thread that asks, with the call of MCP or the task of A2A that made it. */
interface Asking {
  readonly thread_id: string;
  readonly at: string;
  /** Of the questions, `age` first. */
  readonly ids: string[];
  readonly task_id: string;
  /** Sends the answer of a form of MCP; only for threads that `askByMcp` made. */
  readonly elicit: (response: string) => Promise<Awaited<ReturnType<typeof askModern>>>;
}

/** `said`: `both` has two questions. */
async function asking(said = 'hello'): Promise<Asking> {
  const { result } = await rpcTo(server, GRAPH)('SendMessage', { message: message(said) });
  return found(result.task.contextId, result.task.id);
}

async function askByMcp(): Promise<Asking> {
  const thread_id = await server.thread();
  const call = {
    name: GRAPH,
    arguments: { messages: [{ role: 'user', content: 'hello' }] },
    _meta: { thread_id },
  };
  const { result } = await askModern(server, 'tools/call', call, CAN);
  const { requestState, inputRequests } = result;
  const [key = ''] = Object.keys(inputRequests);
  const elicit = (response: string) => {
    const inputResponses = { [key]: { action: 'accept', content: { response } } };
    return askModern(server, 'tools/call', { ...call, inputResponses, requestState }, CAN);
  };
  return { ...(await found(thread_id)), elicit };
}

async function found(thread_id: string, task_id = ''): Promise<Asking> {
  const at = `/threads/${thread_id}`;
  const { tasks } = (await server.get(`${at}/state`)).body;
  const ids = tasks.map(({ interrupts }: { interrupts: { id: string }[] }) => interrupts[0]?.id);
  return { thread_id, at, ids, task_id, elicit: () => expect.unreachable() };
}

/** All that clients see of a thread that asks, except for when it was last touched. */
async function seen({ at, thread_id, task_id }: Asking) {
  const { updated_at: _touched, ...thread } = (await server.get(at)).body;
  const mine = { metadata: {}, ids: [thread_id] };
  const task = task_id === '' ? undefined : await rpcTo(server, GRAPH)('GetTask', { id: task_id });
  const { state, message: asked } = task?.result.status ?? {};
  return {
    thread,
    state: (await server.get(`${at}/state`)).body,
    history: (await server.get(`${at}/history`)).body,
    inbox: (await server.post('/interrupts/search', {})).body,
    waiting: (await server.post('/interrupts/count', {})).body,
    answers: (await server.post('/interrupts/answers/search', {})).body,
    interrupted: (await server.post('/threads/search', { ...mine, status: 'interrupted' })).body.length,
    failed: (await server.post('/threads/count', { status: 'error' })).body,
    task: { state, parts: asked?.parts, artifacts: task?.result.artifacts },
  };
}

const wait = (of: Asking, resume: unknown, more: object = {}) =>
  server.post(`${of.at}/runs/wait`, { assistant_id: GRAPH, command: { resume }, ...more });

async function background(of: Asking, resume: unknown, more: object = {}) {
  const body = { assistant_id: GRAPH, command: { resume }, ...more };
  const run = (await server.post(`${of.at}/runs`, body)).body;
  return server.get(`${of.at}/runs/${run.run_id}/join`);
}

const stream = (of: Asking, resume: unknown, more: object = {}) =>
  server.post(`${of.at}/runs/stream`, { assistant_id: GRAPH, command: { resume }, ...more });

/** Returns at the end of the run that the command makes, if it makes one. */
async function respond(of: Asking, interrupt_id: string | undefined, response: unknown, more: object = {}) {
  const params = { namespace: [], interrupt_id, response, ...more };
  const answer = await server.post(`${of.at}/commands`, { id: 1, method: 'input.respond', params });
  const [run] = (await server.get(`${of.at}/runs?limit=1`)).body;
  await server.get(`${of.at}/runs/${run.run_id}/join`);
  return answer;
}

const respondAll = (of: Asking, ...answers: string[]) =>
  respond(of, undefined, undefined, {
    responses: answers.map((response, at) => ({ interrupt_id: of.ids[at], response })),
  });

/** On a thread that asks, the input is the answer. Returns at the end of the run that the command makes, if it makes one. */
async function start(of: Asking, input: unknown, more: object = {}) {
  const params = { assistant_id: GRAPH, input, ...more };
  const answer = await server.post(`${of.at}/commands`, { id: 1, method: 'run.start', params });
  const { run_id } = answer.body.result ?? {};
  if (run_id !== undefined) await server.get(`${of.at}/runs/${run_id}/join`);
  return answer;
}

const chat = (of: Asking, said: string) =>
  server.post(
    '/v1/chat/completions',
    { model: GRAPH, messages: [{ role: 'user', content: said }] },
    { 'x-thread-id': of.thread_id },
  );

const a2a = (of: Asking, said: string | object) =>
  rpcTo(server, GRAPH)('SendMessage', { message: message(said, { taskId: of.task_id }) });

const tool = (of: Asking, resume: unknown) =>
  askLegacy(server, 'tools/call', { name: GRAPH, arguments: { resume }, _meta: { thread_id: of.thread_id } });

type Way = (of: Asking) => Promise<unknown>;
const STRICT = { strict_resume: true };

const one: [string, Way][] = [
  ['a run that is waited for, refused by the schema', (of) => wait(of, 'abc')],
  [
    'a run that is waited for and names the question, refused by the schema',
    (of) => wait(of, { [of.ids[0] as string]: 'abc' }),
  ],
  [
    'a run that also updates the state, refused by the schema',
    (of) =>
      server.post(`${of.at}/runs/wait`, {
        assistant_id: GRAPH,
        command: { resume: 'abc', update: { messages: [{ role: 'user', content: 'more' }] } },
      }),
  ],
  ['a run of durability exit, refused by the schema', (of) => wait(of, 'abc', { durability: 'exit' })],
  ['a run in the background, refused by the schema', (of) => background(of, 'abc')],
  ['a streamed run, refused by the schema', (of) => stream(of, 'abc')],
  ['event streaming, refused by the schema', (of) => respond(of, of.ids[0], 'abc')],
  ['chat completions, refused by the schema', (of) => chat(of, 'abc')],
  ['A2A, refused by the schema', (of) => a2a(of, 'abc')],
  ['a tool of MCP, refused by the schema', (of) => tool(of, 'abc')],
  ['a strict run that names another question', (of) => wait(of, { [UNKNOWN]: '40' }, STRICT)],
  ['a strict run with an empty map', (of) => stream(of, {}, STRICT)],
  [
    'a strict run of another graph',
    (of) => wait(of, { [of.ids[0] as string]: '40' }, { ...STRICT, assistant_id: 'interrupting' }),
  ],
  ['a run of event streaming, refused by the schema', (of) => start(of, 'abc')],
  [
    'a run of event streaming that names the question, refused by the schema',
    (of) => start(of, { [of.ids[0] as string]: 'abc' }),
  ],
  ['a run of event streaming that names another question', (of) => start(of, { [UNKNOWN]: '40' })],
  ['a run of event streaming with an empty map', (of) => start(of, {})],
  [
    'a run of event streaming of another graph',
    (of) => start(of, { [of.ids[0] as string]: '40' }, { assistant_id: 'interrupting' }),
  ],
  ['event streaming that names another question', (of) => respond(of, UNKNOWN, '40')],
  ['strict event streaming that names another question', (of) => respond(of, UNKNOWN, '40', STRICT)],
];

const both: [string, Way][] = [
  ['a run that names neither', (of) => wait(of, '40')],
  ['a run in the background that names neither', (of) => background(of, '40')],
  ['a strict run that names neither', (of) => wait(of, '40', STRICT)],
  ['a run with an empty map', (of) => wait(of, {})],
  [
    'a run whose answers the schemas both refuse',
    (of) => wait(of, { [of.ids[0] as string]: 'abc', [of.ids[1] as string]: 'ab' }),
  ],
  [
    'a strict run that names one of them and another',
    (of) => wait(of, { [of.ids[0] as string]: '40', [UNKNOWN]: 'x' }, STRICT),
  ],
  ['a run of event streaming that names neither', (of) => start(of, '40')],
  ['a run of event streaming with an empty map', (of) => start(of, {})],
  [
    'a run of event streaming that names one of them and another',
    (of) => start(of, { [of.ids[0] as string]: '40', [UNKNOWN]: 'x' }),
  ],
  ['event streaming whose answers the schemas both refuse', (of) => respondAll(of, 'abc', 'ab')],
  ['chat completions', (of) => chat(of, '40')],
  ['A2A', (of) => a2a(of, '40')],
  ['A2A that resumes with an empty map', (of) => a2a(of, { resume: {} })],
  ['a tool of MCP', (of) => tool(of, '40')],
];

test.each([
  ...one.map(([name, way]) => [name, 'hello', way] as const),
  ...both.map(([name, way]) => [`${name}, to two questions`, 'both', way] as const),
])('a refused answer changes nothing: %s', async (_name, said, way) => {
  const of = await asking(said);
  const before = await seen(of);
  await way(of);
  expect(await seen(of)).toEqual(before);
  const [age, name] = of.ids as [string, string];
  const { body } = await wait(of, said === 'both' ? { [age]: '40', [name]: 'Ann' } : { [age]: '40' }, STRICT);
  expect(body.messages.at(-1)).toMatchObject({ type: 'ai' });
  expect((await server.get(of.at)).body.status).toBe('idle');
});

test('a form of MCP that the schema refuses is asked again, and its call continues', async () => {
  const of = await askByMcp();
  const before = await seen(of);
  const { result } = await of.elicit('abc');
  expect(Object.keys(result.inputRequests)).toHaveLength(1);
  expect(await seen(of)).toEqual(before);
  expect((await of.elicit('40')).result.content[0].text).toBe('You are 40.');
});

test.each<[string, Way]>([
  ['a strict run', (of) => wait(of, { [of.ids[0] as string]: '41' }, STRICT)],
  ['event streaming', (of) => respond(of, of.ids[0], '41')],
  ['a run of event streaming', (of) => start(of, { [of.ids[0] as string]: '41' })],
  ['A2A', (of) => a2a(of, '41')],
])('an answer after that of another client changes nothing: %s', async (_name, way) => {
  const of = await asking();
  await wait(of, '40');
  const before = await seen(of);
  await way(of);
  expect(await seen(of)).toEqual(before);
});

test('a form of MCP after the answer of another client changes nothing', async () => {
  const of = await askByMcp();
  await wait(of, '40');
  const before = await seen(of);
  expect((await of.elicit('41')).error?.code).toBe(-32602);
  expect(await seen(of)).toEqual(before);
});

test.each<[string, (of: Asking, age: string) => Promise<unknown>]>([
  ['event streaming', (of, age) => respond(of, of.ids[0], age)],
  ['a run of event streaming', (of, age) => start(of, { [of.ids[0] as string]: age })],
  ['a run of event streaming that names no question', start],
])('of two answers at once, one is refused: %s', async (_name, way) => {
  const of = await asking();
  await Promise.all(['40', '41'].map((age) => way(of, age)));
  const { values } = (await server.get(`${of.at}/state`)).body;
  expect(values.messages).toHaveLength(2);
  const answers = (await server.post('/interrupts/answers/search', { thread_id: of.thread_id })).body;
  expect(answers).toHaveLength(1);
});

test('an answer over event streaming to what is no id is refused, not taken for the answer itself', async () => {
  const thread_id = await server.thread();
  const at = `/threads/${thread_id}`;
  await server.post(`${at}/runs/wait`, { assistant_id: 'interrupting', input: {} });
  const params = { namespace: [], interrupt_id: 'city', response: 'Ulm', strict_resume: true };
  const { body } = await server.post(`${at}/commands`, { id: 1, method: 'input.respond', params });
  expect(body.error).toBe('no_such_interrupt');
  expect((await server.get(at)).body.status).toBe('interrupted');
});

test('of two answers to two questions, the accepted one counts and the refused one is asked again', async () => {
  const of = await asking('both');
  const [age, name] = of.ids as [string, string];
  const { body } = await wait(of, { [age]: 'abc', [name]: 'Ann' });
  expect(body.__error__).toMatchObject({ reason: 'invalid', pending_ids: [age] });
  const { thread, inbox, answers, task } = await seen(of);
  expect(thread).toMatchObject({ status: 'interrupted', error: null });
  expect(inbox.filter((each: { thread_id: string }) => each.thread_id === of.thread_id)).toMatchObject([
    { interrupt_id: age },
  ]);
  expect(answers[0]).toMatchObject({ interrupt_id: name, answer: 'Ann' });
  expect(task.state).toBe('TASK_STATE_INPUT_REQUIRED');
  await wait(of, { [age]: '40' }, STRICT);
  expect((await server.get(of.at)).body.status).toBe('idle');
});

test("a chat completion whose answer is refused is the client's error", async () => {
  const { status, body } = await chat(await asking(), 'abc');
  expect(status).toBe(400);
  expect(body.error.type).toBe('invalid_request_error');
});

test('a refused message of A2A is answered with the task, which still asks', async () => {
  const { result } = await a2a(await asking(), 'abc');
  expect(result.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
});
