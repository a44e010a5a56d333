import { describe, expect, test } from 'vitest';
import { Conversation } from './support.ts';

describe('schemas of a graph', () => {
  test('of a state declared with zod are exact', async () => {
    const { graph } = await Conversation.with('zod-state');
    const context = {
      $schema: expect.any(String),
      type: 'object',
      properties: { language: { default: 'en', type: 'string', enum: ['en', 'de'] } },
      required: ['language'],
      additionalProperties: false,
    };
    expect(await graph.schemas()).toMatchObject({
      graph_id: 'zod-state',
      state_schema: {
        type: 'object',
        properties: { topic: { type: 'string' }, words: { type: 'array', items: { type: 'string' } } },
        required: ['topic', 'length', 'words'],
      },
      input_schema: { type: 'object', properties: { length: { default: 3, type: 'integer' } } },
      output_schema: { type: 'object' },
      config_schema: context,
      context_schema: context,
    });
    expect((await graph.schemas()).input_schema).not.toHaveProperty('required');
  });

  test('of any other state name its channels and accept any value', async () => {
    const { graph } = await Conversation.with('echo');
    const state = { type: 'object', properties: { x: {}, log: {} } };
    expect(await graph.schemas()).toEqual({
      graph_id: 'echo',
      input_schema: state,
      output_schema: state,
      state_schema: state,
      config_schema: {},
      context_schema: null,
    });
  });

  test('of subgraphs are keyed by namespace', async () => {
    const { graph } = await Conversation.with('three-levels');
    expect(Object.keys(await graph.subgraphs(undefined, false))).toEqual(['top_two']);
    expect(await graph.subgraphs(undefined, true)).toMatchObject({
      top_two: { state_schema: { properties: { path: {} } }, context_schema: null },
      'top_two|middle_two': { state_schema: { properties: { path: {} } } },
    });
    expect(Object.keys(await graph.subgraphs('top_two|middle_two', true))).toEqual(['top_two|middle_two']);
    expect(await graph.subgraphs('nobody', true)).toEqual({});
  });
});

describe('the drawing of a graph', () => {
  test('has the nodes and edges of a graph', async () => {
    const { graph } = await Conversation.with('three-levels');
    const { nodes, edges } = await graph.draw(false);
    expect(nodes).toMatchObject([
      { id: '__start__', type: 'schema' },
      { id: 'top_one', type: 'runnable', data: { name: 'top_one' } },
      { id: 'top_two', type: 'runnable' },
      { id: '__end__', type: 'schema' },
    ]);
    expect(edges).toMatchObject([
      { source: '__start__', target: 'top_one' },
      { source: 'top_two', target: '__end__' },
      { source: 'top_one', target: 'top_two', conditional: true },
      { source: 'top_one', target: '__end__', conditional: true },
    ]);
  });

  test('expands as many levels of subgraphs as requested', async () => {
    const { graph } = await Conversation.with('three-levels');
    const inside = async (xray: boolean | number) => {
      const ids = (await graph.draw(xray)).nodes.map(({ id }) => String(id));
      return ids.filter((id) => !id.startsWith('__') && id !== 'top_one');
    };
    expect(await inside(false)).toEqual(['top_two']);
    expect(await inside(1)).toEqual(['top_two:middle_one', 'top_two:middle_two']);
    const all = ['top_two:middle_one', 'top_two:middle_two:bottom_one', 'top_two:middle_two:bottom_two'];
    expect(await inside(2)).toEqual(all);
    expect(await inside(true)).toEqual(all);
  });
});
