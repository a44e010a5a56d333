import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { openApp } from '../support/app.ts';

const FILE = new URL('../fixtures/graphs/alone.ts', import.meta.url);

/** One node of a graph on its own, as the guide of graphs has it: a run of the usual API on a new thread. */
const http = await openApp({ graphs: ['alone'] });
afterAll(() => http[Symbol.asyncDispose]());

/** Executes one node on a new thread. `command` is added to that which names the node. */
async function alone(node: string, command: object, thread_id?: string) {
  const id = thread_id ?? (await http.thread());
  const run = { assistant_id: 'alone', command, interrupt_after: [node] };
  const { body } = await http.post(`/threads/${id}/runs/wait`, run);
  const [{ run_id, status }] = (await http.get(`/threads/${id}/runs`)).body;
  const { steps } = (await http.get(`/runs/${run_id}/steps`)).body;
  const executed = steps
    .filter(({ kind, namespace }: { kind: string; namespace: string }) => kind === 'node' && namespace === '')
    .map(({ name }: { name: string }) => name);
  return { thread_id: id, status, executed, body };
}

const STATE = { topic: 'tea', ran: ['before'] };

describe('a node on its own', () => {
  test.each([
    ['plain', ['before', 'plain tea']],
    ['jump', ['before', 'jump']],
    ['loop', ['before', 'loop']],
    ['last', ['before', 'last']],
  ])('%s executes once from the given state, and the run then ends', async (node, ran) => {
    const { status, executed, body } = await alone(node, { update: STATE, goto: node });
    expect({ status, executed, body }).toMatchObject({ status: 'success', executed: [node], body: { ran } });
  });

  test.each([
    ['one that others start with an input of its own', 'each', { item: 'x' }, 'each x'],
    ['a deferred one', 'deferred', {}, 'deferred'],
  ])('%s executes with the given input', async (_what, node, input, written) => {
    const { executed, body } = await alone(node, { update: STATE, goto: { node, input } });
    expect([executed, body.ran]).toEqual([[node], ['before', written]]);
  });

  test('can be a subgraph, which executes as a whole', async () => {
    const call = { id: 'call-1', name: 'add', args: { a: 1, b: 2 } };
    const messages = [{ role: 'assistant', content: '', tool_calls: [call] }];
    const { executed, body } = await alone('nested', {
      update: { topic: 'tea', messages },
      goto: 'nested',
    });
    expect([executed, body.ran]).toEqual([['nested'], ['inner tea']]);
    expect(body.messages.at(-1)).toMatchObject({ type: 'tool', content: '3' });
  });

  test('can interrupt and be answered, and the run then ends', async () => {
    const asked = await alone('ask', { update: STATE, goto: 'ask' });
    expect(asked.body).toMatchObject({ __interrupt__: [{ value: { question: 'Which?' } }] });
    const { status, executed, body } = await alone('ask', { resume: 'this' }, asked.thread_id);
    expect([status, executed, body.ran]).toEqual(['success', ['ask'], ['before', 'ask this']]);
  });

  test('fails its run with the error that it throws', async () => {
    const { status, executed, body } = await alone('fails', { update: STATE, goto: 'fails' });
    expect([status, executed, body]).toEqual([
      'error',
      ['fails'],
      { __error__: { error: 'Error', message: 'It always fails' } },
    ]);
  });
});

describe('a tool on its own', () => {
  const call = (name: string, args: object) =>
    alone('tools', {
      update: { messages: [{ role: 'assistant', content: '', tool_calls: [{ id: 'call-1', name, args }] }] },
      goto: 'tools',
    });

  test.each([
    ['add', { a: 2 }, { status: 'success', content: '3' }],
    ['shout', { text: 'hey' }, { status: 'success', content: 'HEY' }],
    ['shout', { text: '' }, { status: 'error', content: expect.stringContaining('nothing to shout') }],
  ])('%s returns a message', async (name, args, answer) => {
    const { status, executed, body } = await call(name, args);
    expect([status, executed]).toEqual(['success', ['tools']]);
    expect(body.messages.at(-1)).toMatchObject({ type: 'tool', name, tool_call_id: 'call-1', ...answer });
  });

  test('can interrupt and wait for the answer', async () => {
    const asked = await call('confirm', { what: 'go' });
    const { body } = await alone('tools', { resume: 'yes' }, asked.thread_id);
    expect(body.messages.at(-1)).toMatchObject({ content: 'go: yes' });
  });

  test('is listed with its input schema', async () => {
    const { status, body } = await http.get('/assistants/alone/nodes');
    expect(status).toBe(200);
    const tools = Object.fromEntries(
      body.map(({ id, tools }: { id: string; tools: { name: string }[] }) => [id, tools]),
    );
    expect(Object.keys(tools)).toEqual(
      expect.arrayContaining(['plain', 'nested', 'tools', 'nested:inner', 'nested:inner_tools']),
    );
    expect(tools.plain).toEqual([]);
    expect(body.every(({ source }: { source: unknown }) => source === null)).toBe(true);
    const add = {
      name: 'add',
      description: 'Adds two numbers.',
      input_schema: {
        type: 'object',
        properties: {
          a: { type: 'number', description: 'The first one.' },
          b: { type: 'number', default: 1 },
        },
        required: ['a', 'b'],
      },
    };
    expect(tools['nested:inner_tools']).toMatchObject([add]);
    expect(tools.tools).toMatchObject([
      add,
      { name: 'shout', input_schema: { properties: { text: { type: 'string' } }, required: ['text'] } },
      { name: 'confirm' },
    ]);
  });
});

test('the nodes of a missing assistant are 404', async () => {
  const { status, body } = await http.get(`/assistants/${crypto.randomUUID()}/nodes`);
  expect([status, body]).toEqual([404, { detail: 'Not Found' }]);
});

describe('the absolute path of the code of a node', () => {
  async function fileOf(headers: Record<string, string>, at: typeof http = http) {
    const { status, body } = await at.get('/assistants/alone/nodes?source=true', headers);
    expect(status).toBe(200);
    return body.find(({ id }: { id: string }) => id === 'plain').source.file;
  }

  test('is returned to a client on the machine of the server', async () => {
    expect(await fileOf({ host: 'localhost:8123' })).toBe(fileURLToPath(FILE));
  });

  test.each([
    ['a proxy', { host: '127.0.0.1:8123', 'x-forwarded-for': '192.0.2.1' }],
    ['a proxy with the standard header', { host: '127.0.0.1:8123', forwarded: 'for=192.0.2.1' }],
  ])('is not returned through %s', async (_what, headers) => {
    expect(await fileOf(headers)).toBeNull();
  });

  test('is returned only to administrators who call the server by a local name', async () => {
    const operator = { 'x-api-key': 'an-operator' };
    await using server = await openApp({
      graphs: ['alone'],
      environment: { AGENT_SERVER_API_KEYS: 'an-operator' },
    });
    const { body } = await server.post('/keys', { name: 'reader', scope: 'read' }, operator);
    expect(await fileOf({ host: 'localhost', ...operator }, server)).toBe(fileURLToPath(FILE));
    expect(await fileOf({ host: 'localhost', 'x-api-key': body.key }, server)).toBeNull();
    expect(await fileOf({ host: 'agents.example', ...operator }, server)).toBeNull();
  });
});

test('a node lists the path of its function relative to the folder of the configuration', async () => {
  const lines = (await readFile(FILE, 'utf8')).split('\n');
  const at = (text: string) => ({
    path: 'alone.ts',
    line: lines.findIndex((line) => line.includes(text)) + 1,
  });
  const { body } = await http.get('/assistants/alone/nodes?source=true');
  const sources = body.map(({ id, source }: { id: string; source: unknown }) => [id, source]);
  expect(Object.fromEntries(sources)).toMatchObject({
    plain: at("addNode('plain'"),
    fails: at("addNode('fails'"),
    'nested:inner': at("addNode('inner'"),
    nested: null,
    tools: null,
  });
});
