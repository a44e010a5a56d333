import { MemorySaver } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { graph } from '../../examples/echo/graph.ts';
import { onThreads } from './on-threads.ts';

test.each(['human', 'user'])('the echo graph repeats the last message of role %s', async (role) => {
  const { messages, count } = await graph.invoke({ messages: [{ role, content: 'Hello' }] });

  expect(messages.map((message) => [message.type, message.text])).toEqual([
    ['human', 'Hello'],
    ['ai', 'Hello'],
  ]);
  expect(count).toBe(1);
});

test('messages and counter of the echo graph grow on a thread', async () => {
  const echo = onThreads(graph, new MemorySaver());
  await echo.invoke({ messages: [{ role: 'user', content: 'one' }] }, { configurable: { thread_id: 't' } });
  const state = await echo.invoke(
    { messages: [{ role: 'user', content: 'two' }] },
    { configurable: { thread_id: 't' } },
  );

  expect(state.count).toBe(2);
  expect(state.messages.map((message) => message.text)).toEqual(['one', 'one', 'two', 'two']);
});

test('the echo graph counts a run without a message and answers nothing', async () => {
  const { messages, count } = await graph.invoke({});

  expect(messages.map((message) => message.text)).toEqual(['']);
  expect(count).toBe(1);
});
