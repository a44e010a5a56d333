import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, currentTime } from '../src/agent.ts';

test('the agent looks up the time before it tells it', async () => {
  const { messages } = await agent.invoke({
    messages: [{ role: 'user', content: 'What time is it in Europe/Berlin?' }],
  });

  assert.deepEqual(
    messages.map((message) => message.type),
    ['human', 'ai', 'tool', 'ai'],
  );
  assert.match(messages.at(-1)?.text ?? '', /\d\d:\d\d/);
});

test('the tool knows time zones', async () => {
  assert.match(await currentTime.invoke({ timezone: 'Asia/Tokyo' }), /\d{4}.*\d\d:\d\d/);
});
