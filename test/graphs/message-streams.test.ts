import { describe, expect, test } from 'vitest';
import { Conversation } from './support.ts';

const INPUT = { count: 3 };

interface Chunk {
  id: string;
  type: string;
  content: string;
}

test('mode messages announces a message, adds each token, and completes it when the state contains it', async () => {
  const tokens = await Conversation.with('tokens');
  const events = await tokens.run({ input: INPUT, stream_mode: ['messages'] });
  expect(events.map(({ event }) => event)).toEqual([
    'messages/metadata',
    ...['messages/partial', 'messages/partial', 'messages/partial'],
    'messages/complete',
  ]);
  const [metadata, ...messages] = events.map(({ data }) => data);
  const grown = messages.map((data) => (data as Chunk[])[0]);
  expect(grown.map((message) => message?.content)).toEqual(['t0 ', 't0 t1 ', 't0 t1 t2 ', 't0 t1 t2 ']);
  expect(new Set(grown.map((message) => message?.type))).toEqual(new Set(['ai']));
  expect(metadata).toEqual({
    [grown[0]?.id as string]: { metadata: expect.objectContaining({ langgraph_node: 'speak' }) },
  });
});

test('modes messages and values yield the last state before its message is marked complete', async () => {
  const tokens = await Conversation.with('tokens');
  const events = await tokens.run({ input: INPUT, stream_mode: ['messages', 'values'] });
  expect(events.slice(-2).map(({ event }) => event)).toEqual(['values', 'messages/complete']);
});

test('mode messages yields a message that was not streamed once, as a whole', async () => {
  const chat = await Conversation.with('chat');
  const events = await chat.run({
    input: { messages: [{ role: 'human', content: 'hi' }] },
    stream_mode: ['messages'],
  });
  expect(events.map(({ event }) => event)).toEqual(['messages/metadata', 'messages/complete']);
  expect(events[1]?.data).toEqual([
    {
      id: expect.any(String),
      type: 'ai',
      content: 'You said: hi',
      tool_calls: [],
      invalid_tool_calls: [],
      additional_kwargs: {},
      response_metadata: {},
    },
  ]);
});

describe('mode messages-tuple', () => {
  test('yields each token as a chunk, with the metadata of its node', async () => {
    const tokens = await Conversation.with('tokens');
    const data = await tokens.dataOf('messages', { input: INPUT, stream_mode: ['messages-tuple'] });
    expect(data).toHaveLength(3);
    expect(data[0]).toEqual([
      expect.objectContaining({ type: 'AIMessageChunk', content: 't0 ', id: expect.any(String) }),
      expect.objectContaining({ langgraph_node: 'speak', langgraph_step: 1, tags: [] }),
    ]);
  });

  test('replaces mode messages if both are requested', async () => {
    const tokens = await Conversation.with('tokens');
    const events = await tokens.run({ input: INPUT, stream_mode: ['messages', 'messages-tuple'] });
    expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['messages']));
  });

  test('64 runs that start in the same tick deliver all their tokens', async () => {
    const { graph } = await Conversation.with('tokens');
    const runs = Array.from({ length: 64 }, () =>
      new Conversation(graph).dataOf('messages', { input: { count: 20 }, stream_mode: ['messages-tuple'] }),
    );
    const counts = (await Promise.all(runs)).map((tokens) => tokens.length);
    expect(counts).toEqual(Array(64).fill(20));
  });
});

test('messages in a state are flat objects with a type field', async () => {
  const chat = await Conversation.with('chat');
  const values = await chat.dataOf('values', {
    input: { messages: [{ role: 'user', content: 'hi', id: 'm1' }] },
  });
  expect(values.at(-1)).toEqual({
    messages: [
      { type: 'human', id: 'm1', content: 'hi', additional_kwargs: {}, response_metadata: {} },
      expect.objectContaining({ type: 'ai', content: 'You said: hi' }),
    ],
  });
});
