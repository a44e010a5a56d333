import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HumanMessage } from '@langchain/core/messages';
import { Command, INTERRUPT, MemorySaver } from '@langchain/langgraph';
import { agent } from '../src/agent.ts';

/** The server brings its own checkpointer; here the graph needs one to wait for a decision. */
async function asked() {
  agent.graph.checkpointer = new MemorySaver();
  const config = { configurable: { thread_id: crypto.randomUUID() } };
  const input = { messages: [new HumanMessage('Tell ada@example.com that lunch is at one')] };
  const waiting = await agent.graph.invoke(input, config);
  const decide = async (decision: object) => {
    const { messages } = await agent.graph.invoke(new Command({ resume: { decisions: [decision] } }), config);
    return messages.at(-1)?.text ?? '';
  };
  return { waiting, decide };
}

test('the agent asks before it sends an e-mail', async () => {
  const { waiting, decide } = await asked();

  const [interrupt] = (waiting as { [INTERRUPT]?: { value?: unknown }[] })[INTERRUPT] ?? [];
  assert.partialDeepStrictEqual(interrupt?.value, {
    actionRequests: [{ name: 'send_email', args: { to: 'ada@example.com', text: 'lunch is at one' } }],
  });
  assert.match(await decide({ type: 'approve' }), /ada@example\.com was sent: lunch is at one/);
});

test('an e-mail that is rejected is not sent', async () => {
  const { decide } = await asked();
  assert.doesNotMatch(await decide({ type: 'reject', message: 'Not today.' }), /was sent/);
});
