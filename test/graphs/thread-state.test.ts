import { describe, expect, test } from 'vitest';
import { emptyThreadState } from '../../src/graphs/runtime/thread-state.ts';
import { Conversation } from './support.ts';

const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);

describe('the state of a thread', () => {
  test('of a finished run', async () => {
    const echo = await Conversation.with('echo');
    await echo.run({ input: { x: 1 } });
    const state = await echo.state();
    const checkpoint = { ...echo.configurable, checkpoint_ns: '', checkpoint_id: UUID };
    expect(state).toEqual({
      values: { x: 1, log: ['a:1', 'b'] },
      next: [],
      tasks: [],
      metadata: { source: 'loop', step: 2, parents: {}, ...echo.configurable },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      checkpoint,
      parent_checkpoint: checkpoint,
      interrupts: [],
      checkpoint_id: state?.checkpoint?.checkpoint_id,
      parent_checkpoint_id: state?.parent_checkpoint?.checkpoint_id,
    });
    expect(state?.checkpoint_id).not.toBe(state?.parent_checkpoint_id);
  });

  test('of an interrupted run names its task and its interrupts', async () => {
    const asking = await Conversation.with('interrupting');
    await asking.run({ input: { x: 1 } });
    const interrupts = [{ id: expect.stringMatching(/^[0-9a-f]{32}$/), value: { question: 'ok?' } }];
    expect(await asking.state()).toMatchObject({
      next: ['ask'],
      interrupts,
      tasks: [
        {
          id: UUID,
          name: 'ask',
          path: ['__pregel_pull', 'ask'],
          error: null,
          interrupts,
          checkpoint: null,
          state: null,
          result: null,
        },
      ],
    });
  });

  test('of a failed run has the error of its task in one line', async () => {
    const fails = await Conversation.with('fails');
    await expect(fails.run({ input: { x: 1 } })).rejects.toThrow();
    expect(await fails.state()).toMatchObject({
      values: { log: ['works'] },
      next: ['throws'],
      tasks: [{ name: 'throws', error: 'Error: boom 1', interrupts: [] }],
    });
  });

  test('is empty for a thread without runs, and missing for an unknown checkpoint', async () => {
    const echo = await Conversation.with('echo');
    expect(await echo.state()).toEqual(emptyThreadState());
    await echo.run({ input: { x: 1 } });
    expect(await echo.state({ checkpoint_id: '1ef00000-0000-6000-8000-000000000000' })).toBeUndefined();
  });
});

describe('the history of a thread', () => {
  test('is newest first, and limited', async () => {
    const echo = await Conversation.with('echo');
    await echo.run({ input: { x: 1 } });
    const history = await echo.history();
    expect(history.map(({ next }) => next)).toEqual([[], ['b'], ['a'], ['__start__']]);
    expect(history.at(-1)).toMatchObject({
      parent_checkpoint: null,
      metadata: { source: 'input', step: -1 },
    });
    expect(await echo.history({ limit: 2 })).toEqual(history.slice(0, 2));
  });

  test('can start before a checkpoint and be filtered by metadata', async () => {
    const echo = await Conversation.with('echo');
    await echo.run({ input: { x: 1 } });
    const all = await echo.history();
    const before = { configurable: { ...echo.configurable, checkpoint_id: all[1]?.checkpoint_id } };
    expect(await echo.history({ before })).toEqual(all.slice(2));
    expect(await echo.history({ metadata: { step: 0 } })).toEqual([all[2]]);
  });

  test('lets a run from an earlier checkpoint create a branch', async () => {
    const echo = await Conversation.with('echo');
    await echo.run({ input: { x: 1 } });
    const [, beforeB] = await echo.history();
    const config = { configurable: { ...echo.configurable, checkpoint_id: beforeB?.checkpoint_id } };
    const events = await echo.run({ input: null, config, stream_mode: ['updates'] });
    expect(events).toEqual([{ event: 'updates', data: { b: { log: ['b'] } } }]);
    const sources = (await echo.history()).map(({ metadata }) => metadata?.source);
    expect(sources).toContain('fork');
  });
});

describe('a state update', () => {
  test('creates a checkpoint as if a node had written it', async () => {
    const echo = await Conversation.with('echo');
    await echo.run({ input: { x: 1 } });
    const written = await echo.update({ log: ['from outside'] }, 'a');
    expect(written).toMatchObject({ ...echo.configurable, checkpoint_ns: '', checkpoint_id: UUID });
    expect(await echo.state()).toMatchObject({
      values: { x: 1, log: ['a:1', 'b', 'from outside'] },
      next: ['b'],
      metadata: { source: 'update', step: 3, parents: {} },
      checkpoint_id: written.checkpoint_id,
    });
  });

  test('can start a thread, or change nothing', async () => {
    const echo = await Conversation.with('echo');
    await echo.update({ x: 5 }, '__start__');
    expect(await echo.state()).toMatchObject({ values: { x: 5, log: [] }, next: ['a'] });
    await echo.update(null);
    expect(await echo.state()).toMatchObject({ values: { x: 5, log: [] } });
  });

  test.each([
    ['an unknown node', { x: 1 }, 'nobody', /^The graph rejected the update: Node "nobody" does not exist$/],
    ['a list where an object belongs', [1, 2], 'a', /^The graph rejected the update: /],
    ['values that a reducer cannot take', { log: 5 }, 'a', /^The graph rejected the update: /],
  ])('with %s is an error of the client', async (_, values, as_node, message) => {
    const echo = await Conversation.with('echo');
    await echo.run({ input: { x: 1 } });
    await expect(echo.update(values, as_node)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(message),
    });
    expect(await echo.state()).toMatchObject({ values: { log: ['a:1', 'b'] } });
  });
});
