import type { MemorySaver } from '@langchain/langgraph';
import { expect, test } from 'vitest';
import { Conversation } from './support.ts';

const QUESTION = { question: 'Which?' };

test('a later attempt starts at the requested node of a subgraph if the first one ended before it', async () => {
  const thread = await Conversation.with('alone-nested');
  const interrupt_after = ['team:ask'];
  await thread.run({ command: { goto: 'team:ask', update: { ran: ['before'] } }, interrupt_after });
  const { storage, writes } = thread.memory.checkpointer as MemorySaver;
  const namespaces = storage[thread.configurable.thread_id] ?? {};
  for (const namespace of Object.keys(namespaces)) if (namespace !== '') delete namespaces[namespace];
  for (const checkpoint of Object.keys(writes)) delete writes[checkpoint];

  await thread.run({ command: null, input: null, interrupt_after });
  const state = await thread.graph.state(thread.config, thread.memory, true);
  expect(state?.tasks).toMatchObject([
    {
      name: 'team',
      state: { values: { ran: ['before'] }, next: ['ask'], interrupts: [{ value: QUESTION }] },
    },
  ]);
});

test('a later attempt of a started node applies the given state once', async () => {
  const thread = await Conversation.with('alone-nested');
  const interrupt_after = ['team:ask'];
  await thread.run({ command: { goto: 'team:ask', update: { ran: ['before'] } }, interrupt_after });
  await thread.run({ command: null, input: null, interrupt_after });
  const state = await thread.graph.state(thread.config, thread.memory, true);
  expect(state?.tasks).toMatchObject([
    { name: 'team', state: { values: { ran: ['before'] }, next: ['ask'] } },
  ]);
});
