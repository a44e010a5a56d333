import { describe, expect, test } from 'vitest';
import { Conversation, load } from './support.ts';

const CHILD = /^child:[0-9a-f-]{36}$/;
const ASK = { ask: true };
const ID = expect.stringMatching(/^[0-9a-f]{32}$/);
const ASKED = [{ id: ID, value: { question: 'from the child' } }];

async function nested(): Promise<Conversation> {
  return Conversation.with('nested');
}

describe('streams of subgraphs', () => {
  test('have each event under the namespace of its graph on request', async () => {
    const events = await (await nested()).run({
      input: { ask: false },
      stream_mode: ['values', 'updates', 'custom'],
      subgraphs: true,
    });
    const [child] = events.map(({ event }) => event.split('|')[1]).filter((name) => name !== undefined);
    expect(child).toMatch(CHILD);
    expect(events).toEqual([
      { event: 'values', data: { ask: false, log: [] } },
      { event: 'custom', data: { from: 'parent' } },
      { event: 'updates', data: { first: { log: ['first'] } } },
      { event: 'values', data: { ask: false, log: ['first'] } },
      { event: `values|${child}`, data: { ask: false, log: ['first'] } },
      { event: `custom|${child}`, data: { from: 'child' } },
      { event: `updates|${child}`, data: { work: { log: ['child:"nobody"'] } } },
      { event: `values|${child}`, data: { ask: false, log: ['child:"nobody"'] } },
      { event: 'updates', data: { child: { ask: false, log: ['child:"nobody"'] } } },
      { event: 'values', data: { ask: false, log: ['first', 'child:"nobody"'] } },
    ]);
  });

  test('have only what the node of the subgraph returns by default', async () => {
    const events = await (await nested()).run({
      input: {},
      stream_mode: ['values', 'updates', 'custom', 'tasks'],
    });
    expect(events.filter(({ event }) => event.includes('|'))).toEqual([]);
    expect(events.filter(({ event }) => event === 'custom')).toEqual([
      { event: 'custom', data: { from: 'parent' } },
    ]);
  });

  test('have an interrupt under its namespace and at the root', async () => {
    const events = await (await nested()).run({ input: ASK, stream_mode: ['updates'], subgraphs: true });
    const [inside, outside] = events.slice(-2);
    expect(inside).toEqual({
      event: expect.stringMatching(/^updates\|child:/),
      data: { __interrupt__: ASKED },
    });
    expect(outside).toEqual({ event: 'updates', data: { __interrupt__: ASKED } });
  });

  test('have tokens under the graph that contains the node, even by default', async () => {
    const graphs = await load({ 'nested-tokens': './nested-tokens.ts:graph' });
    const graph = await graphs.get('nested-tokens', { configurable: {} }, 'threads.create_run');
    const names = async (subgraphs: boolean) => {
      const stream_mode = ['messages-tuple'] as const;
      const events = await new Conversation(graph).run({ input: { count: 2 }, stream_mode, subgraphs });
      return events.map(({ event }) => event.replace(/:.*/, ''));
    };
    expect(await names(true)).toEqual(['messages|inner', 'messages|inner']);
    expect(await names(false)).toEqual(['messages', 'messages']);
  });

  test('have tool calls under the graph that contains the node', async () => {
    const names = async (subgraphs: boolean) => {
      const conversation = await Conversation.with('nested-tool');
      const events = await conversation.run({ input: {}, stream_mode: ['tools'], subgraphs });
      return events.map(({ event, data }) => [event.replace(/:.*/, ''), (data as { event: string }).event]);
    };
    expect(await names(true)).toEqual([
      ['tools|inner', 'on_tool_start'],
      ['tools|inner', 'on_tool_end'],
    ]);
    expect(await names(false)).toEqual([
      ['tools', 'on_tool_start'],
      ['tools', 'on_tool_end'],
    ]);
  });
});

describe('state of subgraphs', () => {
  test('of a task with a subgraph names the namespace of the subgraph', async () => {
    const conversation = await nested();
    await conversation.run({ input: ASK });
    const [task] = (await conversation.state())?.tasks ?? [];
    expect(task).toMatchObject({
      name: 'child',
      interrupts: ASKED,
      checkpoint: { ...conversation.configurable, checkpoint_ns: expect.stringMatching(CHILD) },
      state: null,
    });
  });

  test('is nested with the same shape on request', async () => {
    const conversation = await nested();
    await conversation.run({ input: ASK });
    const [task] = (await conversation.state({}, true))?.tasks ?? [];
    expect(task).toMatchObject({ name: 'child', checkpoint: null, interrupts: ASKED });
    expect(task?.state).toMatchObject({
      values: { ask: true, log: ['first'] },
      next: ['work'],
      interrupts: ASKED,
      checkpoint: { checkpoint_ns: expect.stringMatching(CHILD), checkpoint_map: expect.any(Object) },
      tasks: [{ name: 'work', interrupts: ASKED, state: null }],
    });
  });

  test('can be read and updated in its namespace, and the run continues with the update', async () => {
    const conversation = await nested();
    await conversation.run({ input: ASK });
    const [task] = (await conversation.state())?.tasks ?? [];
    const place = task?.checkpoint as Record<string, unknown>;
    expect(await conversation.state(place)).toMatchObject({ values: { log: ['first'] }, next: ['work'] });

    await conversation.update({ ask: false }, undefined, place);
    expect(await conversation.state(place)).toMatchObject({ values: { ask: false }, next: ['work'] });
    const values = await conversation.dataOf('values', { input: null });
    expect(values.at(-1)).toMatchObject({ log: ['first', 'child:"nobody"'] });
  });
});
