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

/** Stops a run as soon as its saver has taken this many checkpoints of the root graph. */
async function stop(run: Conversation, checkpoints: number, call: Partial<GraphCall>): Promise<void> {
  const saver = run.memory.checkpointer as MemorySaver;
  const put = saver.put.bind(saver);
  const stopping = new AbortController();
  let taken = 0;
  const spy = vi.spyOn(saver, 'put').mockImplementation(async (config, ...args) => {
    const saved = await put(config, ...args);
    if (!config.configurable?.['checkpoint_ns']) taken += 1;
    if (taken === checkpoints) stopping.abort(new Error('stopped'));
    return saved;
  });
  await expect(run.run({ ...call, signal: stopping.signal })).rejects.toThrow('stopped');
  spy.mockRestore();
}

async function stoppedAfter(checkpoints: number, call: Partial<GraphCall> = {}): Promise<Conversation> {
  const echo = await Conversation.with('echo');
  await stop(echo, checkpoints, { ...call, input: { x: 1 } });
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

const STOPS = [
  ['before the next node', { interrupt_before: ['b'] }],
  ['after the node', { interrupt_after: ['a'] }],
  ['after all nodes', { interrupt_after: '*' }],
] as const satisfies [string, Partial<GraphCall>][];

test.each(
  MODES.flatMap(([mode, call]) => STOPS.map(([where, at]) => [where, mode, { ...call, ...at }] as const)),
)('a run continued from a superstep stops at a breakpoint there, %s: %s', async (_where, _mode, call) => {
  const echo = await stoppedAfter(3, call);
  expect(await states(echo, { ...call, continues: true })).toEqual(STATES.slice(1, 2));
  expect((await echo.state())?.next).toEqual(['b']);
  // A new run continues from there.
  expect((await states(echo, call)).at(-1)).toEqual(STATES[2]);
});

test('a run that went on from a breakpoint and is continued does not stop there again', async () => {
  const echo = await Conversation.with('echo');
  const at = { interrupt_before: ['a', 'b'] };
  await echo.run({ input: { x: 1 }, ...at });
  await stop(echo, 1, { input: null, ...at });
  expect(await states(echo, { ...at, continues: true })).toEqual(STATES.slice(1, 2));
});

test('a run continued after its command was applied streams the state with the update first', async () => {
  const asking = await Conversation.with('interrupting');
  await asking.run({ input: { x: 1 } });
  await stop(asking, 1, { command: { update: { log: ['edited'] }, goto: 'before' } });
  expect((await states(asking, { continues: true }))[0]).toEqual({ x: 1, log: ['a:1', 'edited'] });
});

test('a run continued before a subgraph that remembers earlier runs gives it its own input', async () => {
  const child = await Conversation.with('stateful-child');
  await child.run({ input: { said: 'one' } });
  await stop(child, 2, { input: { said: 'two' } });
  expect((await states(child, { continues: true })).at(-1)).toMatchObject({ heard: ['one', 'two'] });
});
