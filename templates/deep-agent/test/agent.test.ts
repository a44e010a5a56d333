import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AIMessage } from '@langchain/core/messages';
import { agent } from '../src/agent.ts';
import { searchNotes } from '../src/search-notes.ts';

test('the agent plans, lets the researcher and the critic work, and answers with what they found', async () => {
  const { messages, todos } = await agent.invoke({
    messages: [{ role: 'user', content: 'What can I do in the old town when it rains?' }],
  });

  const calls = messages.filter(AIMessage.isInstance).flatMap((message) => message.tool_calls ?? []);
  assert.deepEqual(
    calls.map(({ name, args }) => args['subagent_type'] ?? name),
    ['write_todos', 'researcher', 'critic'],
  );
  assert.equal(todos.length, 2);
  assert.match(messages.at(-1)?.text ?? '', /old-town\.md: .*covered market/);
});

test('the notes are searched by words', async () => {
  assert.match(await searchNotes.invoke({ query: 'a reservation' }), /^harbour\.md: /);
  assert.match(await searchNotes.invoke({ query: 'zebras' }), /nothing/);
});
