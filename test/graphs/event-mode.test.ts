import { expect, test } from 'vitest';
import { Conversation } from './support.ts';

interface StreamedEvent {
  event: string;
  name: string;
  run_id: string;
  data: Record<string, unknown>;
}

const RUN_ID = '01a1fbd9-6301-7678-a9fa-ca7dbe00fe13';

test('mode events yields the events of a graph between the start and end of the run', async () => {
  const tokens = await Conversation.with('tokens');
  const config = { configurable: { ...tokens.configurable, run_id: RUN_ID } };
  const all = await tokens.run({ input: { count: 2 }, config, stream_mode: ['events'] });
  expect(new Set(all.map(({ event }) => event))).toEqual(new Set(['events']));

  const events = all.map(({ data }) => data as StreamedEvent);
  expect(events.map(({ event, name }) => `${event} ${name}`)).toEqual([
    'on_chain_start LangGraph',
    'on_chain_start speak',
    'on_chat_model_start TokenModel',
    'on_chat_model_stream TokenModel',
    'on_chat_model_stream TokenModel',
    'on_chat_model_end TokenModel',
    'on_chain_end speak',
    'on_chain_end LangGraph',
  ]);
  expect(events[0]).toMatchObject({ run_id: RUN_ID, tags: [], metadata: {}, data: { input: { count: 2 } } });
  expect(events[3]?.data).toMatchObject({ chunk: { type: 'ai', content: 't0 ' } });
  expect(events.at(-1)?.data).toMatchObject({ output: { messages: [{ type: 'ai', content: 't0 t1 ' }] } });
});

test('mode events with other modes executes the graph once and yields all of them', async () => {
  const counter = await Conversation.with('counter');
  const events = await counter.run({
    input: { add: 2 },
    stream_mode: ['events', 'values', 'updates', 'tasks'],
  });
  const others = events.filter(({ event }) => event !== 'events');
  expect(others.map(({ event }) => event)).toEqual(['values', 'tasks', 'updates', 'tasks', 'values']);
  expect(others.at(-1)?.data).toMatchObject({ total: 2 });
  expect(events.length).toBeGreaterThan(others.length);
});

test('modes events and messages yield tokens in both forms', async () => {
  const tokens = await Conversation.with('tokens');
  const names = (await tokens.run({ input: { count: 2 }, stream_mode: ['events', 'messages'] })).map(
    (each) => each.event,
  );
  expect(names.filter((name) => name === 'messages/partial')).toHaveLength(2);
  expect(names.at(-2)).toBe('messages/complete');
});

test('with mode events, other modes of subgraphs keep their namespace', async () => {
  const nested = await Conversation.with('nested');
  const call = { input: { ask: true }, stream_mode: ['events', 'updates', 'checkpoints'] as const };
  const outside = (await nested.run(call)).map(({ event }) => event);
  expect(outside.filter((name) => name.includes('|'))).toEqual([]);

  const fresh = new Conversation(nested.graph);
  const inside = (await fresh.run({ ...call, subgraphs: true })).map(({ event }) => event);
  expect(inside.filter((name) => name.startsWith('updates|child:'))).toHaveLength(1);
  expect(inside.filter((name) => name.startsWith('checkpoints|child:'))).toHaveLength(2);
});

test('with mode events, the stream of a graph that throws ends with its error', async () => {
  const fails = await Conversation.with('fails');
  await expect(fails.run({ input: { x: 1 }, stream_mode: ['events', 'tasks'] })).rejects.toThrow('boom 1');
});
