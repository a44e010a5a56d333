import type { AIMessage, AIMessageChunk, BaseMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { graph } from '../../examples/assistant/graph.ts';
import { naming } from '../support/naming.ts';
import { onThreads } from './on-threads.ts';

const CARRY_OVER = 'How many days of holiday can I carry over?';
const ANSWER = /time-off\.md says under "Time off: Carry-over":\n\n> Up to five unused days/;

// The scripted model answers, whatever the environment of the machine names.
beforeEach(() => {
  vi.stubEnv('OPENAI_API_KEY', '');
  vi.stubEnv('OPENAI_BASE_URL', '');
});

afterEach(() => vi.unstubAllEnvs());

function ask(question: string, role = 'user') {
  return { messages: [{ role, content: question }] };
}

test.each(['human', 'user'])('the assistant answers role %s from the right note', async (role) => {
  const { messages } = await graph.invoke(ask(CARRY_OVER, role));

  expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'ai']);
  expect(messages.at(-1)?.text).toMatch(ANSWER);
});

test('the assistant searches by a tool call and quotes the result', async () => {
  const { messages } = await graph.invoke(ask(CARRY_OVER));
  const [, call, found] = messages as [BaseMessage, AIMessage, BaseMessage];

  expect(call.tool_calls).toMatchObject([{ name: 'search_notes', args: { query: CARRY_OVER } }]);
  expect(JSON.parse(found.text)[0]).toMatchObject({ file: 'time-off.md', heading: 'Time off: Carry-over' });
});

test('the assistant says when the notes have no answer', async () => {
  const { messages } = await graph.invoke(ask('What is the capital of France?'));

  expect(messages.at(-1)?.text).toEqual(naming('notes', 'nothing'));
});

test.each(['Hello!', 'good morning', ''])('the assistant greets on %j without a search', async (greeting) => {
  const { messages } = await graph.invoke(ask(greeting));

  expect(messages.map(({ type }) => type)).toEqual(['human', 'ai']);
  expect(messages.at(-1)?.text).toMatch(/^Hello!/);
});

test('the assistant streams its answer word by word', async () => {
  const tokens: string[] = [];
  for await (const [chunk, { langgraph_node }] of await graph.stream(ask(CARRY_OVER), {
    streamMode: 'messages',
  })) {
    if (langgraph_node === 'agent') tokens.push(chunk.text);
  }

  expect(tokens.length).toBeGreaterThan(25);
  expect(tokens.every((token) => token.trim().split(/\s+/).length === 1)).toBe(true);
  expect(tokens.join('')).toMatch(ANSWER);
});

test('the assistant streams the arguments of a tool call in chunks', async () => {
  let call: AIMessageChunk | undefined;
  let pieces = 0;
  for await (const [chunk] of await graph.stream(ask(CARRY_OVER), { streamMode: 'messages' })) {
    const { tool_call_chunks } = chunk as AIMessageChunk;
    if (!tool_call_chunks?.length) continue;
    pieces++;
    call = call?.concat(chunk as AIMessageChunk) ?? (chunk as AIMessageChunk);
  }

  expect(pieces).toBeGreaterThan(2);
  expect(call?.tool_calls).toMatchObject([{ name: 'search_notes', args: { query: CARRY_OVER } }]);
});

test('the assistant reports its tokens as events', async () => {
  let text = '';
  for await (const { event, data } of graph.streamEvents(ask(CARRY_OVER), { version: 'v2' })) {
    if (event === 'on_chat_model_stream') text += data.chunk.text;
  }

  expect(text).toMatch(ANSWER);
});

test('the assistant remembers the conversation of a thread', async () => {
  const assistant = onThreads(graph, new MemorySaver());
  const config = { configurable: { thread_id: 'talk' } };
  await assistant.invoke(ask('Hello'), config);
  const { messages } = await assistant.invoke(ask(CARRY_OVER), config);

  expect(messages).toHaveLength(6);
});

test('the assistant stops in the middle of a word when it is cancelled', async () => {
  const stop = new AbortController();
  const tokens: string[] = [];
  const talk = async () => {
    for await (const [chunk] of await graph.stream(ask('Hello'), {
      streamMode: 'messages',
      signal: stop.signal,
    })) {
      if (tokens.push(chunk.text) === 3) stop.abort(new Error('cancelled'));
    }
  };

  await expect(talk()).rejects.toThrow();
  expect(tokens.length).toBeLessThan(10);
});
