import OpenAI, { APIError, AuthenticationError, NotFoundError } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, inProgram, NODE } from '../../examples/blocks.ts';
import { openApp } from '../../support/app.ts';
import { naming } from '../../support/naming.ts';

const GRAPHS = ['chat', 'tokens', 'chat-question', 'chat-usage', 'fails'];

let server: Awaited<ReturnType<typeof openApp>> & { url: string };
let client: OpenAI;

beforeAll(async () => {
  const app = await openApp({ graphs: GRAPHS, http: { openai: { enabled: true } } });
  const { url } = await app.app.listen();
  server = { ...app, url };
  client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' });
});

afterAll(() => server[Symbol.asyncDispose]());

function say(content: string): OpenAI.ChatCompletionMessageParam {
  return { role: 'user', content };
}

async function ask(model: string, messages: OpenAI.ChatCompletionMessageParam[], thread?: string) {
  const headers = thread === undefined ? {} : { 'X-Thread-Id': thread };
  const { choices } = await client.chat.completions.create({ model, messages }, { headers });
  return choices[0]?.message.content;
}

test('models are graphs by their names and custom assistants by their ids', async () => {
  const { body: own } = await server.post('/assistants', { graph_id: 'chat', name: 'Mine' });
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids.sort()).toEqual([...GRAPHS, own.assistant_id].sort());
  expect(await client.models.retrieve(own.assistant_id)).toMatchObject({
    id: own.assistant_id,
    object: 'model',
    owned_by: 'chat',
  });
  expect(await ask(own.assistant_id, [say('Hi')])).toBe('You said: Hi');
});

test('a run is returned as a chat completion with the token counts of its models', async () => {
  const completion = await client.chat.completions.create({ model: 'chat-usage', messages: [say('Hi')] });
  expect(completion).toEqual({
    id: expect.stringMatching(/^chatcmpl-/),
    object: 'chat.completion',
    created: expect.any(Number),
    model: 'chat-usage',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'One.\n\nTwo.', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 13, completion_tokens: 3, total_tokens: 16 },
  });
  expect(Math.abs(completion.created - Date.now() / 1000)).toBeLessThan(60);
});

test('a streamed chat completion delivers the tokens one by one, then the finish reason and the usage', async () => {
  const thread_id = await server.thread({ metadata: { graph_id: 'tokens' } });
  await server.post(`/threads/${thread_id}/state`, { values: { count: 5, token_ms: 0 } });
  const stream = await client.chat.completions.create(
    { model: 'tokens', messages: [say('Hi')], stream: true, stream_options: { include_usage: true } },
    { headers: { 'X-Thread-Id': thread_id } },
  );
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const texts = chunks.map(({ choices }) => choices[0]?.delta.content).filter(Boolean);
  expect(texts).toEqual(['t0 ', 't1 ', 't2 ', 't3 ', 't4 ']);
  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
});

test('a message that its model does not stream arrives as one chunk', async () => {
  const stream = client.chat.completions.stream({ model: 'chat', messages: [say('Hi')] });
  expect(await stream.finalContent()).toBe('You said: Hi');
});

test('a chat completion without a conversation name is stateless', async () => {
  const { response } = await client.chat.completions
    .create({ model: 'chat', messages: [say('Hi')] })
    .withResponse();
  expect(response.headers.get('x-thread-id')).toBeNull();
});

test('a conversation name maps to one thread, which takes only new messages', async () => {
  const turns = [say('One')];
  expect(await ask('chat', turns, 'my talk')).toBe('You said: One');
  turns.push({ role: 'assistant', content: 'You said: One' }, say('Two'));
  const { data, response } = await client.chat.completions
    .create({ model: 'chat', messages: turns, metadata: { thread_id: 'my talk' } })
    .withResponse();
  expect(data.choices[0]?.message.content).toBe('You said: Two');
  const { values } = (await server.get(`/threads/${response.headers.get('x-thread-id')}`)).body;
  const texts = values.messages.map(({ content }: { content: string }) => content);
  expect(texts).toEqual(['One', 'You said: One', 'Two', 'You said: Two']);
});

test('the user field names the conversation if nothing else does', async () => {
  const create = () =>
    client.chat.completions.create({ model: 'chat', messages: [say('Hi')], user: 'ada' }).withResponse();
  const [first, second] = [await create(), await create()];
  expect(second.response.headers.get('x-thread-id')).toBe(first.response.headers.get('x-thread-id'));
});

test('an interrupt is returned as a message, and the next message answers it', async () => {
  expect(await ask('chat-question', [say('Hi')], 'a greeting')).toBe('What is your name?');
  const turns = [say('Hi'), { role: 'assistant', content: 'What is your name?' } as const, say('Ada')];
  expect(await ask('chat-question', turns, 'a greeting')).toBe('Hello, Ada.');
});

test('a missing model is a NotFoundError', async () => {
  const missing = '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00';
  await expect(ask(missing, [say('Hi')])).rejects.toThrow(NotFoundError);
  await expect(client.models.retrieve(missing)).rejects.toThrow(NotFoundError);
});

test('the error of a failed run is reported once', async () => {
  const failure = await ask('fails', [say('Hi')]).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    status: 500,
    type: 'server_error',
    message: expect.stringContaining('boom'),
  });
  // Else the client would run the graph three times.
  expect((failure as APIError).headers?.get('x-should-retry')).toBe('false');
});

test('a stream whose run fails ends with the error', async () => {
  const stream = await client.chat.completions.create({
    model: 'fails',
    messages: [say('Hi')],
    stream: true,
  });
  const read = async () => {
    for await (const _ of stream);
  };
  await expect(read()).rejects.toThrow(APIError);
});

test('invalid input is refused in the error format of the OpenAI API', async () => {
  const bad = client.chat.completions.create({ model: 'chat', messages: [] });
  await expect(bad).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
  const several = client.chat.completions.create({ model: 'chat', messages: [say('Hi')], n: 2 });
  await expect(several).rejects.toMatchObject({ status: 400, message: naming('n: ', 1) });
});

test('chat completions require a key if the server has keys', async () => {
  await using guarded = await openApp({
    graphs: ['chat'],
    environment: { AGENT_SERVER_API_KEYS: 'sesame' },
    http: { openai: { enabled: true } },
  });
  const { url } = await guarded.app.listen();
  const stranger = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'wrong' });
  await expect(stranger.models.list()).rejects.toThrow(AuthenticationError);
  const known = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: 'none',
    defaultHeaders: { 'X-Api-Key': 'sesame' },
  });
  expect((await known.models.list()).data.map(({ id }) => id)).toEqual(['chat']);
});

test('the OpenAI API is disabled unless it is configured', async () => {
  await using closed = await openApp({ graphs: ['chat'] });
  expect((await closed.get('/v1/models')).status).toBe(404);
});

test('docs/openai.md', async () => {
  const [program] = blocksOf('docs/openai.md').filter(({ language }) => language === 'js');
  const said = await inProgram(NODE, ['--input-type=module'], program?.text ?? '', server.url);
  expect(said).toBe('You said: Hello!');
});
