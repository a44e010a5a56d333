import { expect, test } from 'vitest';
import { PROTOCOL_NOTE } from '../../src/events/frame.ts';
import { Conversation } from './support.ts';

const lifecycle = { stream_mode: ['lifecycle' as const] };

/** The events without the ids of their tasks. */
async function lifecycleOf(events: Promise<{ event: string; data: unknown }[]>): Promise<unknown[]> {
  const sent = (await events).filter(({ event }) => !event.startsWith(PROTOCOL_NOTE));
  const text = JSON.stringify(sent);
  return JSON.parse(text.replace(/:[0-9a-f]{8}-[0-9a-f-]{27}/g, '')).map(
    ({ event, data }: { event: string; data: { namespace: string[] } }) => {
      expect(event).toBe(['lifecycle', ...data.namespace].join('|'));
      return data;
    },
  );
}

const start = (...namespace: string[]) => ({ event: 'started', namespace });
const end = (...namespace: string[]) => ({ event: 'completed', namespace });
const error = { error: 'TypeError', message: 'the leaf failed' };

test('lifecycle events report the start and end of each subgraph, and the tool call that started it', async () => {
  const graph = await Conversation.with('lifecycle');
  expect(await lifecycleOf(graph.run({ input: { do: 'nothing' }, ...lifecycle }))).toEqual([
    start('nested'),
    start('nested', 'leaf'),
    end('nested', 'leaf'),
    end('nested'),
    start('caught'),
    start('caught', '1'),
    end('caught', '1'),
    { event: 'failed', namespace: ['caught'], error },
    { ...start('tool'), tool_call_id: 'call-1' },
    start('tool', 'leaf'),
    end('tool', 'leaf'),
    { ...end('tool'), tool_call_id: 'call-1' },
    start('remembering'),
    start('remembering', 'leaf'),
    end('remembering', 'leaf'),
    end('remembering'),
  ]);
});

test('a graph without subgraphs has no lifecycle events', async () => {
  const echo = await Conversation.with('echo');
  expect(await echo.run({ input: { x: 1 }, ...lifecycle })).toEqual([]);
});

test('lifecycle events report a subgraph as interrupted while it waits, and as started again with the answer', async () => {
  const graph = await Conversation.with('lifecycle');
  expect(await lifecycleOf(graph.run({ input: { do: 'ask' }, ...lifecycle }))).toEqual([
    start('nested'),
    start('nested', 'leaf'),
    { event: 'interrupted', namespace: ['nested', 'leaf'] },
    { event: 'interrupted', namespace: ['nested'] },
  ]);
  const command = { resume: 'yes' };
  expect((await lifecycleOf(graph.run({ command, ...lifecycle }))).slice(0, 4)).toEqual([
    start('nested'),
    start('nested', 'leaf'),
    end('nested', 'leaf'),
    end('nested'),
  ]);
});

test('lifecycle events report a subgraph as interrupted at a breakpoint', async () => {
  const graph = await Conversation.with('lifecycle');
  const stop = { interrupt_before: ['nested:leaf'] };
  expect(await lifecycleOf(graph.run({ input: { do: 'nothing' }, ...stop, ...lifecycle }))).toEqual([
    start('nested'),
    { event: 'interrupted', namespace: ['nested'] },
  ]);
});

test('lifecycle events report a failing subgraph and each graph around it as failed, with the error', async () => {
  const graph = await Conversation.with('lifecycle');
  const events: { event: string; data: unknown }[] = [];
  const read = async () => {
    for await (const each of graph.stream({ input: { do: 'fail' }, ...lifecycle })) events.push(each);
  };
  await expect(read()).rejects.toThrow('the leaf failed');
  expect(await lifecycleOf(Promise.resolve(events))).toEqual([
    start('nested'),
    start('nested', 'leaf'),
    { event: 'failed', namespace: ['nested', 'leaf'], error },
    { event: 'failed', namespace: ['nested'], error },
  ]);
});

test('lifecycle events of a subgraph surround its events in other modes', async () => {
  const nested = await Conversation.with('nested');
  const stream_mode = ['lifecycle' as const, 'updates' as const];
  const events = await nested.run({ input: {}, stream_mode, subgraphs: true });
  expect(events.map(({ event }) => event.replace(/:[0-9a-f-]+/, ''))).toEqual([
    'updates',
    'lifecycle|child',
    'updates|child',
    'updates',
    'lifecycle|child',
  ]);
});
