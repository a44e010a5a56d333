import { type Checkpoint, Client } from '@langchain/langgraph-sdk';
import { Client as Client2 } from 'langgraph-sdk-2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

type Connect = (options: { apiUrl: string; apiKey: string }) => Client;

/** Both lines of the SDK that people have; their requests differ, what they give back does not. */
const SDKS: [string, Connect][] = [
  ['1.12', (options) => new Client(options)],
  ['2.0.0', (options) => new Client2(options) as unknown as Client],
];

const API_KEY = 'key-of-the-test';
const GRAPHS = {
  assistant: 'examples/assistant/graph.ts:graph',
  echo: 'examples/echo/graph.ts:graph',
  sleeper: 'test/fixtures/graphs/sleeper.ts:graph',
  fails: 'test/fixtures/graphs/fails.ts:graph',
};

type Message = { id: string; type: string; content: string };
type Chat = { messages: Message[]; count: number };

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ graphs: GRAPHS, api_keys: [API_KEY] });
});
afterAll(() => server?.[Symbol.asyncDispose]());

function says(content: string, role = 'human') {
  return { messages: [{ role, content }] };
}

async function collect<Event extends { event: string; data: unknown }>(stream: AsyncIterable<Event>) {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return {
    events,
    data: (name: string) => events.filter(({ event }) => event === name).map(({ data }) => data),
  };
}

describe.each(SDKS)('the JavaScript SDK %s', (_, connect) => {
  let client: Client;
  beforeAll(() => {
    client = connect({ apiUrl: server.url, apiKey: API_KEY });
  });

  test.each(['human', 'user'])(
    'streams updates, messages and events to a message of role %s',
    async (role) => {
      const { thread_id } = await client.threads.create({ metadata: { purpose: 'chat' } });
      const stream = client.runs.stream(thread_id, 'assistant', {
        input: says('When do you open on Saturday?', role),
        streamMode: ['updates', 'messages', 'events'],
      });
      const { events, data } = await collect(stream);

      expect(events[0]).toMatchObject({
        event: 'metadata',
        data: { run_id: expect.any(String), attempt: 1 },
      });
      const nodes = data('updates').flatMap((update) => Object.keys(update as object));
      expect(nodes).toEqual(['agent', 'tools', 'agent']);
      const { messages } = (await client.threads.getState<Chat>(thread_id)).values;
      expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
      const partials = data('messages/partial').flat() as Message[];
      const answer = partials.filter(({ id }) => id === messages.at(-1)?.id);
      expect(answer.length).toBeGreaterThan(3);
      expect(answer.at(-1)).toMatchObject({ type: 'ai', content: messages.at(-1)?.content });
      const named = data('events').map((event) => (event as { event: string }).event);
      expect(named).toEqual(
        expect.arrayContaining(['on_chain_start', 'on_chat_model_stream', 'on_tool_end', 'on_chain_end']),
      );
    },
  );

  test('stops at an interrupt, shows it, and continues with the answer', async () => {
    const { thread_id } = await client.threads.create();
    const order = says('Email ana@example.com about lunch saying See you at noon.');
    const stopped = await collect(
      client.runs.stream(thread_id, 'assistant', { input: order, streamMode: 'updates' }),
    );
    const question = { action_requests: [{ name: 'send_email' }] };
    expect(stopped.data('updates').at(-1)).toMatchObject({ __interrupt__: [{ value: question }] });

    const thread = await client.threads.get(thread_id);
    expect(thread.status).toBe('interrupted');
    expect(Object.values(thread.interrupts ?? {})).toMatchObject([[{ value: question }]]);
    const waiting = await client.threads.getState(thread_id);
    expect(waiting.next).toEqual(['review']);
    expect(waiting.tasks[0]?.interrupts).toMatchObject([{ value: question }]);

    const resumed = client.runs.stream(thread_id, 'assistant', {
      command: { resume: { decisions: [{ type: 'approve' }] } },
      streamMode: ['values', 'messages-tuple'],
    });
    const { data } = await collect(resumed);
    expect((data('values').at(-1) as Chat).messages.at(-1)?.content).toMatch(
      /^The e-mail to ana@example\.com/,
    );
    expect(data('messages')[0]).toMatchObject([{ type: expect.stringMatching(/AIMessageChunk|tool/) }, {}]);
    expect(await client.threads.get(thread_id)).toMatchObject({ status: 'idle', interrupts: {} });
  });

  test('reads state and history, and forks from an earlier checkpoint', async () => {
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, 'echo', { input: says('one') });
    await client.runs.wait(thread_id, 'echo', { input: says('two') });
    const state = await client.threads.getState<Chat>(thread_id);
    expect(state.values.count).toBe(2);
    const history = await client.threads.getHistory<Chat>(thread_id);
    expect(history[0]?.checkpoint).toEqual(state.checkpoint);
    const afterOne = history.find(({ values, next }) => values.count === 1 && next.length === 0);
    expect(afterOne).toBeDefined();

    const checkpoint = afterOne?.checkpoint as Checkpoint;
    const at = await client.threads.getState<Chat>(thread_id, checkpoint);
    expect(at.values.messages).toHaveLength(2);
    const forked = await client.runs.wait(thread_id, 'echo', {
      input: says('other'),
      checkpoint,
    });
    const { messages, count } = forked as unknown as Chat;
    expect(count).toBe(2);
    expect(messages.map(({ content }) => content)).toEqual(['one', 'one', 'other', 'other']);

    const older = await client.threads.getHistory(thread_id, {
      limit: 1,
      before: { configurable: checkpoint },
    });
    expect(older[0]?.checkpoint.checkpoint_id).toBe(afterOne?.parent_checkpoint?.checkpoint_id);
    await client.threads.updateState(thread_id, { values: { count: 10 }, asNode: 'echo' });
    expect((await client.threads.getState<Chat>(thread_id)).values.count).toBe(10);
  });

  test('waits for a run and gets its error', async () => {
    const { thread_id } = await client.threads.create();
    const values = await client.runs.wait(thread_id, 'echo', { input: says('hello') });
    expect(values).toMatchObject({
      count: 1,
      messages: [{ content: 'hello' }, { type: 'ai', content: 'hello' }],
    });
    await expect(client.runs.wait(thread_id, 'fails', { input: {} })).rejects.toThrow(/Error/);
  });

  test('runs without a thread, streaming and waiting', async () => {
    const { events, data } = await collect(
      client.runs.stream(null, 'echo', { input: says('hi'), streamMode: 'values' }),
    );
    expect(events[0]?.event).toBe('metadata');
    expect(data('values').at(-1)).toMatchObject({ count: 1 });
    expect(await client.runs.wait(null, 'echo', { input: says('hi') })).toMatchObject({ count: 1 });
  });

  test('creates a background run, finds it, and joins it', async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, 'sleeper', {
      input: { ms: 3_000, label: 'one' },
      streamMode: 'updates',
    });
    expect(run).toMatchObject({ thread_id, status: expect.stringMatching(/pending|running/) });
    expect((await client.threads.get(thread_id)).status).toBe('busy');
    const joined = await collect(client.runs.joinStream(thread_id, run.run_id));
    expect(joined.data('updates')).toEqual([{ rest: { slept: ['one'] } }]);
    expect(await client.runs.join(thread_id, run.run_id)).toMatchObject({ slept: ['one'] });
    expect(await client.runs.get(thread_id, run.run_id)).toMatchObject({ status: 'success' });
    expect((await client.runs.list(thread_id)).map(({ run_id }) => run_id)).toEqual([run.run_id]);
    await client.runs.delete(thread_id, run.run_id);
    expect(await client.runs.list(thread_id)).toEqual([]);
  });

  test('replays a resumable stream from any event', async () => {
    const { thread_id } = await client.threads.create();
    const stream = client.runs.stream(thread_id, 'echo', {
      input: says('again'),
      streamMode: ['values', 'updates'],
      streamResumable: true,
    });
    const { events, data } = await collect(stream);
    const [{ run_id }] = data('metadata') as [{ run_id: string }];
    const readAfter = (lastEventId: string) =>
      collect(client.runs.joinStream(thread_id, run_id, { lastEventId })).then((joined) => joined.events);
    expect(await readAfter('-1')).toEqual(events);
    expect(await readAfter(events[1]?.id ?? '')).toEqual(events.slice(2));
  });

  test('cancels an executing run, and the thread can be used again', async () => {
    const { thread_id } = await client.threads.create();
    const run = await client.runs.create(thread_id, 'sleeper', { input: { ms: 60_000, label: 'long' } });
    await client.runs.cancel(thread_id, run.run_id, true);
    expect(await client.runs.get(thread_id, run.run_id)).toMatchObject({ status: 'interrupted' });
    const again = await client.runs.wait(thread_id, 'sleeper', { input: { ms: 1, label: 'short' } });
    expect(again).toMatchObject({ slept: ['short'] });
    await expect(client.runs.cancel(thread_id, run.run_id)).rejects.toThrow(/404/);
  });

  test('finds assistants and threads', async () => {
    const [assistant] = await client.assistants.search({ graphId: 'assistant', limit: 1 });
    expect(assistant).toMatchObject({ graph_id: 'assistant', name: 'assistant', version: 1 });
    const drawing = await client.assistants.getGraph('assistant');
    expect(drawing.nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(['agent', 'review', 'tools']));
    const { thread_id } = await client.threads.create({ metadata: { purpose: 'search' }, graphId: 'echo' });
    const copy = await client.threads.copy(thread_id);
    const found = await client.threads.search({
      ids: [thread_id, copy.thread_id],
      metadata: { purpose: 'search' },
    });
    expect(found).toHaveLength(2);
    await client.threads.delete(copy.thread_id);
    expect(await client.threads.count({ metadata: { purpose: 'search', graph_id: 'echo' } })).toBeGreaterThan(
      0,
    );
    await expect(client.threads.get(copy.thread_id)).rejects.toThrow(/404/);
  });
});
