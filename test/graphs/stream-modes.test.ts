import { describe, expect, test } from 'vitest';
import { Conversation } from './support.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const INPUT = { x: 1 };

test('mode values yields the full state, first with the input applied', async () => {
  const echo = await Conversation.with('echo');
  expect(await echo.run({ input: INPUT })).toEqual([
    { event: 'values', data: { x: 1, log: [] } },
    { event: 'values', data: { x: 1, log: ['a:1'] } },
    { event: 'values', data: { x: 1, log: ['a:1', 'b'] } },
  ]);
});

test('mode updates yields what each node returned, before the resulting state of mode values', async () => {
  const echo = await Conversation.with('echo');
  const events = await echo.run({ input: INPUT, stream_mode: ['values', 'updates'] });
  expect(events.map(({ event }) => event)).toEqual(['values', 'updates', 'values', 'updates', 'values']);
  expect(events.filter(({ event }) => event === 'updates').map(({ data }) => data)).toEqual([
    { a: { log: ['a:1'] } },
    { b: { log: ['b'] } },
  ]);
});

test('mode custom yields everything that a node writes', async () => {
  const nested = await Conversation.with('nested');
  expect(await nested.run({ input: {}, stream_mode: ['custom'] })).toEqual([
    { event: 'custom', data: { from: 'parent' } },
  ]);
});

describe('mode tasks', () => {
  test('yields the start of each task, then its result', async () => {
    const echo = await Conversation.with('echo');
    const [start, result] = await echo.dataOf('tasks', { input: INPUT, stream_mode: ['tasks'] });
    expect(start).toEqual({
      id: expect.stringMatching(UUID),
      name: 'a',
      input: { x: 1, log: [] },
      triggers: ['branch:to:a'],
      interrupts: [],
      metadata: expect.any(Object),
    });
    expect(result).toEqual({
      id: (start as { id: string }).id,
      name: 'a',
      error: null,
      result: { log: ['a:1'] },
      interrupts: [],
    });
  });

  test('yields the interrupts of a waiting task instead of a result', async () => {
    const asking = await Conversation.with('interrupting');
    expect((await asking.dataOf('tasks', { input: INPUT, stream_mode: ['tasks'] })).at(-1)).toEqual({
      id: expect.stringMatching(UUID),
      name: 'ask',
      error: null,
      result: {},
      interrupts: [{ id: expect.stringMatching(/^[0-9a-f]{32}$/), value: { question: 'ok?' } }],
    });
  });
});

describe('a graph that throws', () => {
  test('emits the result of the failing task first, with its error, then throws it', async () => {
    const fails = await Conversation.with('fails');
    const told: { event: string; data: unknown }[] = [];
    const reading = (async () => {
      for await (const event of fails.stream({ input: INPUT, stream_mode: ['tasks', 'debug'] }))
        told.push(event);
    })();
    await expect(reading).rejects.toThrow('boom 1');

    const [task, debug] = told.slice(-2);
    const failed = {
      id: expect.stringMatching(UUID),
      name: 'throws',
      error: { error: 'BoomError', message: 'boom 1' },
      result: {},
      interrupts: [],
    };
    expect(task).toEqual({ event: 'tasks', data: failed });
    expect(debug).toMatchObject({ event: 'debug', data: { step: 2, type: 'task_result', payload: failed } });
  });

  test('delivers all earlier events first, even to a slow reader', async () => {
    const fails = await Conversation.with('fails');
    const values: unknown[] = [];
    const reading = (async () => {
      for await (const { data } of fails.stream({ input: INPUT })) {
        await new Promise(setImmediate);
        values.push(data);
      }
    })();
    await expect(reading).rejects.toThrow('boom 1');
    expect(values).toEqual([
      { x: 1, log: [] },
      { x: 1, log: ['works'] },
    ]);
  });
});

describe('mode checkpoints', () => {
  test('yields each checkpoint with its configuration, state and next tasks', async () => {
    const echo = await Conversation.with('echo');
    const configurable = { ...echo.configurable, mine: 'kept' };
    const all = await echo.dataOf('checkpoints', {
      input: INPUT,
      config: { configurable },
      stream_mode: ['checkpoints'],
    });
    expect(all).toHaveLength(4);
    expect(all[1]).toEqual({
      config: expect.objectContaining({
        configurable: { ...configurable, checkpoint_ns: '', checkpoint_id: expect.stringMatching(UUID) },
      }),
      parent_config: expect.objectContaining({ configurable: expect.any(Object) }),
      values: { x: 1, log: [] },
      metadata: { source: 'loop', step: 0, parents: {} },
      next: ['a'],
      tasks: [{ id: expect.stringMatching(UUID), name: 'a', path: expect.any(Array), interrupts: [] }],
    });
    expect(all[0]).toMatchObject({ parent_config: null, metadata: { source: 'input', step: -1 } });
  });

  test('yields no internals of the library', async () => {
    const nested = await Conversation.with('nested');
    const all = await nested.run({ input: {}, stream_mode: ['checkpoints', 'debug'], subgraphs: true });
    expect(JSON.stringify(all)).not.toMatch(/__pregel_(read|send|checkpointer|scratchpad|stream)|callbacks/);
  });
});

test('mode debug yields checkpoints, tasks and results with the field names of the contract', async () => {
  const echo = await Conversation.with('echo');
  const debug = await echo.dataOf('debug', { input: INPUT, stream_mode: ['debug'] });
  const types = (debug as { type: string }[]).map(({ type }) => type);
  expect(types).toEqual([
    ...['checkpoint', 'checkpoint', 'task', 'task_result'],
    ...['checkpoint', 'task', 'task_result', 'checkpoint'],
  ]);
  const history = await echo.history();
  expect(debug[7]).toMatchObject({
    step: 2,
    timestamp: expect.stringMatching(/^\d{4}-/),
    payload: { checkpoint: history[0]?.checkpoint, parent_checkpoint: history[0]?.parent_checkpoint },
  });
});

test('modes that were not requested are not streamed', async () => {
  const nested = await Conversation.with('nested');
  const events = await nested.run({ input: {}, stream_mode: ['updates'] });
  expect(new Set(events.map(({ event }) => event))).toEqual(new Set(['updates']));
});
