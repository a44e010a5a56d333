import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';

const GRAPHS = ['chat', 'echo', 'chat-question', 'chat-usage', 'fails', 'zod-state', 'ten-steps'];

let server: Awaited<ReturnType<typeof openApp>>;
let url: string;

beforeAll(async () => {
  server = await openApp({ graphs: GRAPHS });
  ({ url } = await server.app.listen());
  // Reading types takes seconds the first time, on a busy machine longer than a list of tools waits for them.
  await server.get('/assistants/chat/schemas');
});

afterAll(() => server[Symbol.asyncDispose]());

/** Of the newest revision, or of 2025-11-25, as the client takes it without being told. */
async function connected(
  era: 'modern' | 'legacy',
  path = '/mcp',
  answer?: (message: string) => object,
  at = url,
) {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: answer ? { elicitation: { form: {} } } : {},
      ...(era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {}),
    },
  );
  if (answer) {
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      action: 'accept' as const,
      content: answer(params.message) as Record<string, string>,
    }));
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${at}${path}`)));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

describe.each(['modern', 'legacy'] as const)('an MCP client of the %s era', (era) => {
  test('finds each assistant as a tool', async () => {
    await using client = await connected(era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...GRAPHS].sort());
    expect(tools.find(({ name }) => name === 'chat')).toEqual({
      name: 'chat',
      title: 'chat',
      description: expect.any(String),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
      inputSchema: {
        $schema: expect.any(String),
        type: 'object',
        properties: { messages: { type: 'string', description: expect.any(String) } },
        required: ['messages'],
      },
    });
  });

  test('calls an assistant with a text and gets its answer', async () => {
    await using client = await connected(era);
    const result = await client.callTool({ name: 'chat', arguments: { messages: 'Hi' } });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'You said: Hi' }] });
    expect(result.isError).not.toBe(true);
  });

  test('gets the output of a graph as structured content', async () => {
    await using client = await connected(era);
    const result = await client.callTool({ name: 'zod-state', arguments: { topic: 'sea', length: 2 } });
    expect(result.structuredContent).toEqual({ topic: 'sea', length: 2, words: ['sea', 'sea'] });
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(result.structuredContent) }]);
  });

  test('gets the name of the invalid field, and no run is created', async () => {
    await using client = await connected(era);
    const result = await client.callTool({ name: 'chat', arguments: { messages: 7 } });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('messages') }] });
  });

  test('gets the reason why a run failed', async () => {
    await using client = await connected(era);
    const result = await client.callTool({ name: 'fails', arguments: { x: 1 } });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('boom 1') }] });
  });

  test('cannot call what does not exist', async () => {
    await using client = await connected(era);
    await expect(client.callTool({ name: 'nobody', arguments: {} })).rejects.toThrow('Unknown tool: nobody');
  });

  test('gets a progress notification for every finished node', async () => {
    await using client = await connected(era);
    const heard: number[] = [];
    await client.callTool(
      { name: 'ten-steps', arguments: {} },
      { onprogress: ({ progress }) => heard.push(progress) },
    );
    expect(heard).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('continues a conversation when it names a thread', async () => {
    await using client = await connected(era);
    const say = (messages: string) =>
      client.callTool({ name: 'chat', arguments: { messages }, _meta: { thread_id: `talk ${era}` } });
    await say('One');
    const { _meta } = await say('Two');
    const { values } = (await server.get(`/threads/${_meta?.['thread_id']}`)).body;
    expect(values.messages).toHaveLength(4);
  });

  test('without elicitation gets the question as text and answers it on the thread', async () => {
    await using client = await connected(era);
    const asked = await client.callTool({ name: 'chat-question', arguments: { messages: 'Hi' } });
    expect(asked.content).toEqual([{ type: 'text', text: 'What is your name?' }]);
    const thread_id = asked._meta?.['thread_id'];
    const answered = await client.callTool({
      name: 'chat-question',
      arguments: { resume: 'Ada' },
      _meta: { thread_id },
    });
    expect(answered.content).toEqual([{ type: 'text', text: 'Hello, Ada.' }]);
  });
});

test('a client with elicitation answers the question of the graph within its call', async () => {
  const questions: string[] = [];
  await using client = await connected('modern', '/mcp', (message) => {
    questions.push(message);
    return { response: 'Ada' };
  });
  const result = await client.callTool({ name: 'chat-question', arguments: { messages: 'Hi' } });
  expect(questions).toEqual(['What is your name?']);
  expect(result.content).toEqual([{ type: 'text', text: 'Hello, Ada.' }]);
  expect((await server.get(`/threads/${result._meta?.['thread_id']}`)).status).toBe(404);
});

test('each assistant has its own endpoint with one tool', async () => {
  const { body: assistant } = await server.post('/assistants', { graph_id: 'chat', name: 'Only one' });
  await using client = await connected('modern', `/mcp/${assistant.assistant_id}`);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['Only_one']);
  await expect(client.callTool({ name: 'echo', arguments: {} })).rejects.toThrow('Unknown tool: echo');
});

test('a server that stops disconnects its listeners', async () => {
  const stopping = await openApp({ graphs: ['zod-state'] });
  const { url: its } = await stopping.app.listen();
  await using client = await connected('modern', '/mcp', undefined, its);
  const subscription = await client.listen({ toolsListChanged: true });
  await stopping[Symbol.asyncDispose]();
  await subscription.close();
});

test('a listener is notified of a new assistant', async () => {
  await using client = await connected('modern');
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
  const subscription = await client.listen({ toolsListChanged: true });
  await server.post('/assistants', { graph_id: 'chat', name: 'New' });
  await changed.promise;
  await subscription.close();
});
