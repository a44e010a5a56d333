import type { RandomJson } from '../support/random-json.ts';

/** Levels that JSON may have in a request, less those around a message. */
const DEEPEST = 480;
const LENGTHS = [0, 1, 100, 10_000, 1_000_000];

const ROLES = [
  ...['user', 'human', 'assistant', 'ai', 'system', 'developer', 'tool', 'function', 'remove', 'generic'],
  ...[
    '',
    'USER',
    'moderator',
    'constructor',
    'toString',
    'AIMessageChunk',
    'HumanMessage',
    'x'.repeat(10_000),
  ],
  ...[null, 5, true, [], {}, ['user']],
];

const BLOCK_TYPES = [
  ...['text', 'text-plain', 'image', 'image_url', 'audio', 'input_audio', 'video', 'file', 'tool_use'],
  ...['tool_result', 'tool_call', 'tool_call_chunk', 'server_tool_call', 'thinking', 'redacted_thinking'],
  ...['reasoning', 'refusal', 'citation', 'non_standard', 'input_json_delta', 'document', 'nothing', ''],
  ...[null, 7, {}],
];

/** What LangChain writes for its own objects, and what nobody but it should write. */
const SERIALIZED = [
  {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'HumanMessage'],
    kwargs: { content: 'Hi' },
  },
  { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'AIMessageChunk'], kwargs: {} },
  {
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'NoSuchMessage'],
    kwargs: { content: [] },
  },
  { lc: 1, type: 'constructor', id: ['langchain', 'llms', 'OpenAI'], kwargs: { apiKey: 'x' } },
  { lc: 1, type: 'constructor', id: [], kwargs: null },
  { lc: 1, type: 'secret', id: ['PATH'] },
  { lc: 1, type: 'not_implemented', id: ['a', 'b'] },
  { lc: 2, type: 'undefined' },
  { lc: 2, type: 'constructor', id: ['Set'], args: [[1, 2]] },
  { lc: 2, type: 'constructor', id: ['Map'], args: [5] },
  { lc: 2, type: 'constructor', id: ['RegExp'], args: ['(', 'zz'] },
  { lc: 2, type: 'constructor', id: ['Error'], args: [{ message: 'x' }] },
  { lc: 2, type: 'constructor', id: ['Function'], args: ['return process'] },
  { lc: 2, type: 'constructor', id: ['Uint8Array'], method: 'from', args: [[256, 'x']] },
  { lc: 2, type: 'constructor', id: ['toString'], args: [] },
  { lg_name: 'Send', node: 'nowhere', args: {} },
];

/** Messages as clients echo them, and as no client should send them: what a graph is given as `messages`. */
export function oddMessages(random: RandomJson): unknown {
  switch (random.below(12)) {
    case 0:
      return oddContent(random);
    case 1:
      return oddMessage(random);
    case 2:
      return Array.from({ length: random.one([0, 1000, 5000]) }, (_, i) => ({
        role: 'user',
        content: `${i}`,
      }));
    case 3:
      return [[oddMessage(random)], random.value(3)];
    default:
      return Array.from({ length: 1 + random.below(4) }, () => oddMessage(random));
  }
}

/** One message. */
export function oddMessage(random: RandomJson): unknown {
  const form = random.below(10);
  if (form === 0)
    return random.one([null, 5, '', 'Hi', [], {}, ['user', 'Hi'], ['moderator', {}], [1, 2, 3]]);
  if (form === 1) return [random.one(ROLES), oddContent(random)];
  if (form === 2) return random.one(SERIALIZED);
  const role = random.one(ROLES);
  return {
    [random.one(['role', 'type', 'type', '_type'])]: role,
    content: oddContent(random),
    ...maybe(random, 'id', () => oddId(random)),
    ...maybe(random, 'name', () => random.one(['', 'Ann', 5, null, 'x'.repeat(5000)])),
    ...maybe(random, 'tool_calls', () => oddCalls(random)),
    ...maybe(random, 'invalid_tool_calls', () => oddCalls(random)),
    ...maybe(random, 'tool_call_chunks', () => oddCalls(random)),
    ...maybe(random, 'tool_call_id', () => oddId(random)),
    ...maybe(random, 'additional_kwargs', () => oddKwargs(random)),
    ...maybe(random, 'response_metadata', () =>
      random.one([{ output_version: 'v1' }, { model_provider: 'x' }, [], 5]),
    ),
    ...maybe(random, 'usage_metadata', () =>
      random.one([{ input_tokens: 'x' }, { total_tokens: -1 }, [], null]),
    ),
    ...maybe(random, 'artifact', () => nest(random, random.value(2))),
    ...maybe(random, 'status', () => random.one(['success', 'error', 'x', 0])),
    ...maybe(random, 'lc_kwargs', () => ({ content: 5 })),
  };
}

function maybe(random: RandomJson, field: string, value: () => unknown): object {
  return random.below(5) === 0 ? { [field]: value() } : {};
}

function oddId(random: RandomJson): unknown {
  const known = ['', 'a', 'a', '0', '__remove_all__', 'do-not-render-x', 'a\0b', '\ud800', 'lc_run--x'];
  return random.one([...known, null, 0, -1, {}, [], 'i'.repeat(random.one(LENGTHS))]);
}

function oddContent(random: RandomJson): unknown {
  switch (random.below(9)) {
    case 0:
      return random.one([null, 0, true, {}, [], '', [''], [null], [[]], ['Hi', 5]]);
    case 1:
      return random.one(['x', '\n', '🙂', '\\', 'a ']).repeat(random.one(LENGTHS));
    case 2:
      return nest(random, 'deep');
    case 3:
      return [nest(random, { type: 'text', text: 'deep' })];
    case 4:
      return random.one(SERIALIZED);
    case 5:
    case 6:
      return Array.from({ length: 1 + random.below(4) }, () => oddBlock(random));
    default:
      return 'Hi';
  }
}

function oddBlock(random: RandomJson): unknown {
  if (random.below(8) === 0) return random.one([null, 5, 'text', [], ...SERIALIZED]);
  const data = random.one([
    '',
    'not base64',
    'data:image/png;base64,AAAA',
    'A'.repeat(random.one(LENGTHS)),
    5,
    null,
    {},
  ]);
  return {
    type: random.one(BLOCK_TYPES),
    ...maybe(random, 'text', () => random.one(['Hi', '', null, 5, ['x'], {}])),
    ...maybe(random, 'image_url', () => random.one([data, { url: data, detail: 'x' }])),
    ...maybe(random, 'data', () => data),
    ...maybe(random, 'source_type', () => random.one(['base64', 'url', 'text', 'id', 'x', 5])),
    ...maybe(random, 'mime_type', () => random.one(['image/png', 'x', '/', 5])),
    ...maybe(random, 'content', () => nest(random, [{ type: 'text' }])),
    ...maybe(random, 'input', () => random.value(3)),
    ...maybe(random, 'value', () => random.one(SERIALIZED)),
    ...maybe(random, 'index', () => random.one([0, -1, 1e21, 'x'])),
    ...maybe(random, 'annotations', () => random.one([[], [null], 'x', [{ type: 'citation' }]])),
  };
}

function oddCalls(random: RandomJson): unknown {
  if (random.below(6) === 0) return random.one([null, {}, 'x', [null], [[]], [5]]);
  return Array.from({ length: 1 + random.below(3) }, () => ({
    ...maybe(random, 'type', () => random.one(['tool_call', 'function', 'x', null])),
    id: oddId(random),
    name: random.one(['search', '', 5, null, '__proto', 'x'.repeat(5000)]),
    args: random.one(['{"a":', '{}', 'x', null, 5, [], {}, { a: nest(random, 1) }, random.one(SERIALIZED)]),
    ...maybe(random, 'function', () => ({ name: 5, arguments: random.one(['{', '[]', 'null', 5]) })),
    ...maybe(random, 'index', () => random.one([0, -1, 1e9, 'x'])),
  }));
}

function oddKwargs(random: RandomJson): unknown {
  const function_call = { name: 'f', arguments: random.one(['{"a":', '', 5, {}]) };
  const known = [
    { tool_calls: oddCalls(random) },
    { function_call },
    { refusal: 5 },
    { reasoning_content: [] },
  ];
  return random.one([...known, null, [], 'x', random.one(SERIALIZED)]);
}

/** The value under some levels of lists and objects. */
function nest(random: RandomJson, value: unknown): unknown {
  const levels = random.one([1, 10, 100, DEEPEST, 1000]);
  let nested = value;
  for (let level = 0; level < levels; level++) nested = level % 2 ? [nested] : { content: nested };
  return nested;
}
