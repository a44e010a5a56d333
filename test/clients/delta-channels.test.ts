import { Client, type ThreadState } from '@langchain/langgraph-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

const GRAPH = 'delta-chat';

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer();
  client = new Client({ apiUrl: server.url });
});
afterAll(() => server?.[Symbol.asyncDispose]());

interface Said {
  readonly messages: { content: string }[];
}

const textsOf = ({ messages }: Said) => messages.map(({ content }) => content);
const answered = (...told: string[]) => told.flatMap((text) => [text, `You said: ${text}`]);

async function say(thread_id: string, content: string) {
  const input = { messages: [{ role: 'user', content }] };
  return (await client.runs.wait(thread_id, GRAPH, { input })) as unknown as Said;
}

async function state(thread_id: string): Promise<ThreadState<Said>> {
  return client.threads.getState<Said>(thread_id);
}

/** A thread on which this was said, turn by turn. */
async function conversation(...told: string[]): Promise<string> {
  const { thread_id } = await client.threads.create();
  for (const content of told) await say(thread_id, content);
  return thread_id;
}

const NUMBERS = ['one', 'two', 'three', 'four', 'five', 'six'];

test('a state stored as deltas is complete in runs, state, history and thread', async () => {
  const thread_id = await conversation(...NUMBERS);
  expect(textsOf(await say(thread_id, 'seven'))).toEqual(answered(...NUMBERS, 'seven'));
  expect(textsOf((await state(thread_id)).values)).toEqual(answered(...NUMBERS, 'seven'));
  expect(textsOf((await client.threads.get<Said>(thread_id)).values)).toHaveLength(14);
  const history = await client.threads.getHistory<Said>(thread_id, { limit: 100 });
  const lengths = history.map(({ values }) => values.messages?.length ?? 0);
  expect(lengths).toEqual([14, 13, 12, 12, 11, 10, 10, 9, 8, 8, 7, 6, 6, 5, 4, 4, 3, 2, 2, 1, 0]);
});

test('a conversation stored as deltas continues after a restart of the server', async () => {
  const thread_id = await conversation('one', 'two');
  await server.restart();
  expect(textsOf(await say(thread_id, 'three'))).toEqual(answered('one', 'two', 'three'));
});

test('an interrupted conversation stored as deltas can be answered, and forked from any checkpoint', async () => {
  const thread_id = await conversation('one', 'ask');
  const { checkpoint, interrupts } = (await state(thread_id)).tasks[0] as never as {
    checkpoint: unknown;
    interrupts: unknown[];
  };
  expect([checkpoint, interrupts]).toEqual([null, [expect.objectContaining({ value: 'What?' })]]);
  const resumed = await client.runs.wait(thread_id, GRAPH, { command: { resume: 'this' } });
  expect(textsOf(resumed as never)).toEqual([...answered('one'), 'ask', 'You said: this']);

  const history = await client.threads.getHistory<Said>(thread_id, { limit: 100 });
  const after = history.find(({ values, next }) => values.messages?.length === 2 && next.length === 0);
  const input = { messages: [{ role: 'user', content: 'else' }] };
  await client.runs.wait(thread_id, GRAPH, { input, checkpointId: String(after?.checkpoint.checkpoint_id) });
  expect(textsOf((await state(thread_id)).values)).toEqual(answered('one', 'else'));
});

test('deltas are complete with one checkpoint for each run', async () => {
  const { thread_id } = await client.threads.create();
  for (const content of NUMBERS) {
    const input = { messages: [{ role: 'user', content }] };
    await client.runs.wait(thread_id, GRAPH, { input, durability: 'exit' });
  }
  expect(textsOf((await state(thread_id)).values)).toEqual(answered(...NUMBERS));
});

test('a state update from outside is stored as one more delta', async () => {
  const thread_id = await conversation('one');
  const values = { messages: [{ role: 'user', content: 'from outside' }] };
  await client.threads.updateState(thread_id, { values, asNode: '__start__' });
  expect(textsOf((await state(thread_id)).values)).toEqual([...answered('one'), 'from outside']);
  const ended = await client.runs.wait(thread_id, GRAPH, { input: null });
  expect(textsOf(ended as never)).toEqual(answered('one', 'from outside'));
});

test.for(NUMBERS.map((_, index) => index + 1))('pruned after %i turns, nothing is lost', async (turns) => {
  const told = NUMBERS.slice(0, turns);
  const thread_id = await conversation(...told);
  await client.threads.prune([thread_id], { strategy: 'keep_latest' });
  expect(textsOf((await state(thread_id)).values)).toEqual(answered(...told));
  expect(textsOf(await say(thread_id, 'more'))).toEqual(answered(...told, 'more'));
});

test('a copy of a thread with deltas is complete, and deleting a run keeps the deltas that others need', async () => {
  const thread_id = await conversation('one', 'two', 'three');
  const copy = await client.threads.copy(thread_id);
  const [, second] = await client.runs.list(thread_id);
  await client.runs.delete(thread_id, second?.run_id as string);
  expect(textsOf((await state(thread_id)).values)).toEqual(answered('one', 'two', 'three'));
  expect(textsOf(await say((copy as { thread_id: string }).thread_id, 'four'))).toEqual(
    answered('one', 'two', 'three', 'four'),
  );
});

test('the newest clients stream a state stored as deltas', async () => {
  const { thread_id } = await client.threads.create();
  const thread = client.threads.stream(thread_id, { assistantId: GRAPH });
  await thread.run.start({ input: { messages: [{ role: 'user', content: 'one' }] } });
  expect(textsOf((await thread.output) as never)).toEqual(answered('one'));
  await thread.close();
  expect(textsOf(await say(thread_id, 'two'))).toEqual(answered('one', 'two'));
});
