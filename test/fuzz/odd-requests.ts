import { message } from '../support/a2a.ts';
import type { RandomJson } from '../support/random-json.ts';
import { oddMessage, oddMessages } from './odd-messages.ts';

export interface OddRequest {
  readonly path: string;
  readonly body: string;
}

/** The default of `server.body_limit`. */
const BODY_LIMIT = 16 * 1024 ** 2;
const MODES = [
  'values',
  'updates',
  'messages',
  'messages-tuple',
  'events',
  'debug',
  'tasks',
  'checkpoints',
  'custom',
];
/** Fields of the graphs' states that a message may land in. */
const FIELDS = ['messages', 'messages', 'messages', 'log', 'x', 'text', 'topic', 'seen', 'answer', 'label'];

type Door = (random: RandomJson, graph: string, thread: string) => readonly [path: string, body: object];

const DOORS: readonly Door[] = [
  (random, assistant_id, thread) => [
    `${thread}/runs/${random.one(['wait', 'stream'])}`,
    { assistant_id, input: input(random), ...options(random) },
  ],
  (random, assistant_id) => [
    `/runs/${random.one(['wait', 'stream'])}`,
    { assistant_id, input: input(random), ...options(random) },
  ],
  (random, assistant_id) => ['/runs/batch', [{ assistant_id, input: input(random) }, { assistant_id }]],
  (random, assistant_id, thread) => [
    `${thread}/runs/wait`,
    { assistant_id, command: { [random.one(['resume', 'update'])]: oddMessages(random) } },
  ],
  (random, _graph, thread) => [
    `${thread}/state`,
    { values: input(random), as_node: random.one([undefined, 'answer', 'a', '__start__', 'nope']) },
  ],
  (random, assistant_id, thread) => [
    `${thread}/commands`,
    { id: 1, method: 'run.start', params: { assistant_id, input: input(random) } },
  ],
  (random, _graph, thread) => [
    `${thread}/commands`,
    { id: 1, method: 'input.inject', params: { message: oddMessage(random) } },
  ],
  (random, model, thread) => [
    '/v1/chat/completions',
    { model, messages: oddMessages(random), stream: random.below(2) === 0, user: thread.split('/').at(-1) },
  ],
  (random, graph, thread) => [
    `/a2a/${graph}`,
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: message(input(random), { contextId: thread.split('/').at(-1) as string }) },
    },
  ],
  (random, name) => [
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input(random) } },
  ],
];

/** A request that brings odd messages to a graph, by any door; mostly on the thread. */
export function oddRequest(random: RandomJson, graph: string, thread_id: string): OddRequest {
  const door = random.below(2) === 0 ? (DOORS[0] as Door) : random.one(DOORS);
  const [path, body] = door(random, graph, `/threads/${thread_id}`);
  const text = JSON.stringify(body);
  const isLarge = random.below(60) === 0;
  return { path, body: isLarge ? filled(text, random.one([1, 4, 16])) : text };
}

function input(random: RandomJson): Record<string, unknown> {
  return {
    [random.one(FIELDS)]: oddMessages(random),
    ...(random.below(4) === 0 ? { [random.one(FIELDS)]: random.value(2) } : {}),
  };
}

function options(random: RandomJson): object {
  const odd = () => random.one([{}, { a: oddMessage(random) }, { thread_id: 'x' }]);
  return {
    stream_mode: random.one([undefined, MODES, random.one(MODES)]),
    stream_subgraphs: random.below(2) === 0,
    durability: random.one([undefined, 'sync', 'async', 'exit']),
    ...(random.below(6) === 0 ? { metadata: odd() } : {}),
    ...(random.below(6) === 0 ? { config: { configurable: odd() } } : {}),
    ...(random.below(6) === 0 ? { context: odd() } : {}),
  };
}

/** The JSON with so much more in it that it has a part of what a body may have: one long text, or many messages. */
function filled(text: string, part: number): string {
  const room = Math.floor(BODY_LIMIT / part) - text.length - 100;
  if (room < 1 || !text.includes('"messages":')) return text;
  const one = '{"role":"user","content":"Hi"},';
  const many = `[${one.repeat(Math.floor(room / one.length / 40))}{"role":"user","content":"${'x'.repeat(room >> 1)}"}]`;
  return text.replace(/"messages":/, () => `"messages":${many},"text":`);
}
