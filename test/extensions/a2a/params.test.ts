import { afterAll, beforeAll, expect, test } from 'vitest';
import { A2A_FOLDER as folder, readTypes, rpcTo } from '../../support/a2a.ts';
import { type Part, senderTo, type Task } from '../../support/a2a-calls.ts';
import { openApp } from '../../support/app.ts';

let server: Awaited<ReturnType<typeof openApp>>;

beforeAll(async () => {
  server = await openApp({
    folder,
    graphs: ['mirror', 'chat', 'zod-state', 'interrupting', 'parallel-send'],
  });
  await readTypes(server, 'parallel-send');
});

afterAll(() => server[Symbol.asyncDispose]());

interface Sent {
  readonly message?: object;
  readonly configuration?: object;
}

function output({ artifacts = [] }: Task): Part {
  return artifacts.find(({ name }) => name === 'Output')?.parts[0]?.['data'] ?? {};
}

const TEXT_FILE = { raw: 'aGk=', filename: 'a.txt', mediaType: 'text/plain' };
const AS_BLOCK = { type: 'file', data: 'aGk=', mimeType: 'text/plain', metadata: { filename: 'a.txt' } };
const OLD_MESSAGE = {
  kind: 'message',
  role: 'user',
  messageId: 'old',
  parts: [{ kind: 'text', text: 'Hi' }],
};
const OLD_FILE = { kind: 'file', file: { bytes: 'aGk=', name: 'a.txt', mimeType: 'text/plain' } };

test.each([
  ['one text', [{ text: 'Hi' }], 'Hi'],
  [
    'two texts',
    [{ text: 'a' }, { text: 'b' }],
    [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  ],
  ['a file', [TEXT_FILE], [AS_BLOCK]],
  [
    'a file with the field names of Python',
    [{ raw: 'aGk=', filename: 'a.txt', media_type: 'text/plain' }],
    [AS_BLOCK],
  ],
  ['a file in the form of 0.3', [OLD_FILE], [AS_BLOCK]],
  [
    'the URL of an image',
    [{ url: 'https://example.com/a.png', mediaType: 'image/png' }],
    [{ type: 'image', url: 'https://example.com/a.png', mimeType: 'image/png' }],
  ],
  [
    'data for the message',
    [{ data: { x: 1 }, metadata: { target: 'message' } }],
    [{ type: 'text', text: '{"x":1}' }],
  ],
  ['data that is not an object', [{ data: [1] }], [{ type: 'text', text: '[1]' }]],
])('%s becomes one message of the user', async (_name, parts, content) => {
  const task = await senderTo(server, 'mirror')(parts);
  expect(output(task)['seen']).toMatchObject({ content });
});

test('the methods of 0.3 accept parts of 1.0, and return them in the form of 0.3', async () => {
  const rpc = rpcTo(server, 'mirror');
  const message = { message_id: 'mixed', role: 'ROLE_USER', parts: [{ text: 'Hi' }, TEXT_FILE] };
  const { result } = await rpc('message/send', { message });
  expect(result.history[0]).toMatchObject({
    role: 'user',
    messageId: 'mixed',
    parts: [{ kind: 'text', text: 'Hi' }, OLD_FILE],
  });
  const { result: modern } = await rpc('GetTask', { id: result.id });
  expect(modern.history[0].parts).toEqual([{ text: 'Hi' }, TEXT_FILE]);
});

test.each([
  ['contextId', { message: { contextId: 1 } }],
  ['extensions', { message: { extensions: true } }],
  ['referenceTaskIds', { message: { referenceTaskIds: {} } }],
  ['acceptedOutputModes', { configuration: { acceptedOutputModes: 1 } }],
])(
  'the methods of 0.3 refuse an optional field of another type: %s',
  async (name, { message, ...others }: Sent) => {
    const params = { message: { ...OLD_MESSAGE, ...message }, ...others };
    for (const method of ['message/send', 'message/stream']) {
      const { error } = await rpcTo(server, 'mirror')(method, params);
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(`.${name} must be a `) });
    }
  },
);

test('the methods of 0.3 treat null in an optional field as missing', async () => {
  const none = { contextId: null, taskId: null, metadata: null, extensions: null, referenceTaskIds: null };
  const message = { ...OLD_MESSAGE, ...none };
  const configuration = { acceptedOutputModes: null };
  const { result } = await rpcTo(server, 'mirror')('message/send', { message, configuration });
  expect(result.status.state).toBe('completed');
});

test('the history of a task contains messages exactly as they were sent', async () => {
  const parts = [{ text: 'Look:', metadata: { tone: 'kind' } }, { data: { answer: 'Fine.' } }, { data: [1] }];
  const task = await senderTo(server, 'mirror')(parts);
  expect(task.history?.map((message) => message.parts)).toEqual([parts, [{ text: 'Fine.' }]]);
});

test('A2A messages may have fields in snake case, and unknown fields are ignored', async () => {
  const rpc = rpcTo(server, 'chat');
  const message = { message_id: 'm', context_id: 'snakes', role: 'user', parts: [{ text: 'Hi' }], x: 1 };
  const configuration = { history_length: 1, return_immediately: false, unheard_of: true };
  const { result } = await rpc('SendMessage', { message, configuration, y: 2 });
  const { task } = result;
  expect([task.contextId, task.status.state, task.history.length]).toEqual([
    'snakes',
    'TASK_STATE_COMPLETED',
    1,
  ]);
  const listed = await rpc('ListTasks', { context_id: 'snakes', page_size: 1, include_artifacts: true });
  expect(listed.result).toMatchObject({ tasks: [{ id: task.id }], pageSize: 1 });
});

test('metadata of an A2A message for the run reaches the graph', async () => {
  const metadata = { note: 'mine', configurable: { tone: 'kind' } };
  const message = { messageId: 'with-metadata', metadata };
  const task = await senderTo(server, 'mirror')([{ text: 'Hi' }], { message });
  expect(output(task)['seen']).toMatchObject({
    tone: 'kind',
    protocol: { name: 'a2a', version: '1.0', message_id: 'with-metadata' },
  });
  const { body } = await server.get(`/threads/${task.contextId}/runs/${task.id}`);
  expect(body.metadata).toMatchObject({ note: 'mine' });
});

test('a graph without messages accepts a text if it has one text field, else the error names its fields', async () => {
  const task = await senderTo(server, 'zod-state')([{ text: 'tea' }, { data: { length: 2 } }]);
  expect(output(task)['words']).toEqual(['tea', 'tea']);
  await expect(senderTo(server, 'parallel-send')([{ text: 'tea' }])).rejects.toThrow(
    /^-32602 .* its fields: items \(optional\), ask \(optional\), squares/,
  );
});

test('an agent whose assistant declares input media types refuses others', async () => {
  const metadata = { a2a: { input_modes: ['text/plain', 'image/*'] } };
  const { body } = await server.post('/assistants', { graph_id: 'mirror', metadata });
  const send = senderTo(server, body.assistant_id);
  const image = { raw: 'aGk=', mediaType: 'image/png' };
  expect((await send([{ text: 'Look' }, image])).status.state).toBe('TASK_STATE_COMPLETED');
  await expect(send([{ raw: 'aGk=', mediaType: 'audio/wav' }])).rejects.toThrow(/^-32005 .*audio\/wav/);
  await expect(send([{ data: { x: 1 } }])).rejects.toThrow(/^-32005 .*application\/json/);
});

test('parts that an A2A client does not accept are omitted, in streams too', async () => {
  const answer = [
    { type: 'text', text: 'A picture:' },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ];
  const parts = [{ data: { answer } }];
  const shown = ({ artifacts = [] }: Task) => artifacts.flatMap((artifact) => artifact.parts);
  const send = senderTo(server, 'mirror');
  expect(shown(await send(parts))).toHaveLength(3);
  const configuration = { acceptedOutputModes: ['image/*'] };
  const image = { raw: 'aGk=', mediaType: 'image/png' };
  expect(shown(await send(parts, { configuration }))).toEqual([image]);

  const message = { messageId: 'streamed', role: 'ROLE_USER', parts };
  const { text } = await server.post('/a2a/mirror/message:stream', { message, configuration });
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  expect(events.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts ?? [])).toEqual([image]);
  const only = { acceptedOutputModes: ['text/plain'] };
  const texts = [{ text: 'A picture:' }];
  expect(shown(await send(parts, { configuration: only }))).toEqual(texts);
});

test('an invalid A2A envelope gets a JSON-RPC error', async () => {
  const ask = async (body: unknown, headers = {}) =>
    (
      await server.post('/a2a/chat', typeof body === 'string' ? body : JSON.stringify(body), {
        'content-type': 'application/json',
        ...headers,
      })
    ).body;
  const call = { jsonrpc: '2.0', id: 'a', method: 'GetTask', params: {} };
  const codes = [
    await ask('{'),
    await ask([call]),
    await ask({ ...call, jsonrpc: '1.0' }),
    await ask({ ...call, id: {} }),
    await ask({ ...call, method: 'GetTasks' }),
    await ask({ ...call, params: [] }),
    await ask(call),
    await ask(call, { 'a2a-version': '9.9' }),
    await ask(call, { 'content-type': 'text/plain' }),
  ].map(({ id, error }) => [id, error.code, error.data[0].reason]);
  expect(codes).toEqual([
    [null, -32700, 'PARSE_ERROR'],
    [null, -32600, 'INVALID_REQUEST'],
    ['a', -32600, 'INVALID_REQUEST'],
    [null, -32600, 'INVALID_REQUEST'],
    ['a', -32601, 'METHOD_NOT_FOUND'],
    ['a', -32602, 'INVALID_PARAMS'],
    ['a', -32602, 'INVALID_PARAMS'],
    ['a', -32009, 'VERSION_NOT_SUPPORTED'],
    [null, -32005, 'CONTENT_TYPE_NOT_SUPPORTED'],
  ]);
});
