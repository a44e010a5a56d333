import type { MemorySaver } from '@langchain/langgraph';
import { expect, test, vi } from 'vitest';
import type { GraphCall } from '../../src/graphs/graph.ts';
import { Conversation } from './support.ts';

const BEFORE_INPUT = { log: [] };
const STATES = [
  { x: 1, log: [] },
  { x: 1, log: ['a:1'] },
  { x: 1, log: ['a:1', 'b'] },
];
const MODES = [
  ['stream modes', {}],
  ['events of stream mode `events`', { stream_mode: ['values', 'events'] }],
  ['event streaming', { protocol: true }],
] as const satisfies [string, Partial<GraphCall>][];

/** A run of `echo` that ends when its saver has taken this many checkpoints. */
async function stoppedAfter(checkpoints: number): Promise<Conversation> {
  const echo = await Conversation.with('echo');
  const saver = echo.memory.checkpointer as MemorySaver;
  const put = saver.put.bind(saver);
  let taken = 0;
  const spy = vi.spyOn(saver, 'put').mockImplementation(async (...args) => {
    taken += 1;
    if (taken > checkpoints) throw new Error('stopped');
    return put(...args);
  });
  await expect(echo.run({ input: { x: 1 } })).rejects.toThrow('stopped');
  spy.mockRestore();
  return echo;
}

/** What a stream tells of the root graph's states. */
async function states(echo: Conversation, call: Partial<GraphCall>): Promise<unknown[]> {
  const events = await echo.run({ input: null, ...call });
  return events.flatMap(({ event, data }) => {
    if (event === 'values') return [data];
    return event.endsWith('values') ? [(data as { data: unknown }).data] : [];
  });
}

test.each(MODES)(
  'a run continued from its saved input never streams the state before that input: %s',
  async (_, call) => {
    const echo = await stoppedAfter(1);
    expect(await states(echo, { ...call, continues: true })).toEqual(STATES);
  },
);

test.each(MODES)(
  'a run continued from a superstep streams the state of that superstep first: %s',
  async (_, call) => {
    const echo = await stoppedAfter(3);
    expect(await states(echo, { ...call, continues: true })).toEqual(STATES.slice(1));
  },
);

test('a new run from a saved input streams the state before that input, as LangGraph does', async () => {
  const echo = await stoppedAfter(1);
  expect(await states(echo, {})).toEqual([BEFORE_INPUT, ...STATES]);
});
