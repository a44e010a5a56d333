import { join } from 'node:path';
import { tool } from '@langchain/core/tools';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { RunnableGraph } from '../../src/graphs/runnable.ts';
import { langGraph } from '../../src/graphs/runtime/langgraph.ts';
import { FIXTURES, load } from './support.ts';

const STATES = join(import.meta.dirname, '../fixtures/states');

test('the tools of an agent of createAgent belong to its node', async () => {
  const graphs = await load({ it: './create-agent.ts:withTool' }, STATES);
  const graph = await graphs.get('it', { configurable: {} }, 'assistants.read');
  expect(await graph.nodes(false)).toMatchObject([
    { id: 'model_request', tools: [] },
    {
      id: 'tools',
      tools: [{ name: 'echo', input_schema: { properties: { text: { type: 'string' } } } }],
    },
  ]);
});

test('a tool with an inexpressible schema, or an invalid tool, does not hide the others', async () => {
  const named = (name: string, schema: z.ZodObject) => tool(() => 'yes', { name, description: name, schema });
  const tools = [
    named('odd', z.object({ when: z.custom((when) => when instanceof Date) })),
    { type: 'web_search' },
    named('usual', z.object({ text: z.string() })),
  ];
  const graph = new StateGraph(Annotation.Root({ messages: Annotation<[]>() }))
    .addNode('tools', Object.assign(new ToolNode([]), { tools }) as never)
    .addEdge(START, 'tools')
    .compile();
  const nodes = await langGraph('it', graph as unknown as RunnableGraph, STATES).nodes(false);
  expect(nodes).toMatchObject([
    { id: 'tools', tools: [{ name: 'odd', input_schema: null }, { name: 'usual' }] },
  ]);
});

test('an object that only behaves like a graph has no known nodes', async () => {
  const foreign = { stream: async () => [], getState: async () => ({}) } as unknown as RunnableGraph;
  expect(await langGraph('it', foreign, STATES).nodes(false)).toEqual([]);
});

test('the source location of a node is returned only on request, and only below the folder of the configuration', async () => {
  const sourcesOf = async (root: string, path: string, source: boolean) => {
    const graphs = await load({ it: `${path}:graph` }, root);
    const graph = await graphs.get('it', { configurable: {} }, 'assistants.read');
    return (await graph.nodes(source)).map((node) => node.source);
  };
  const line = expect.any(Number);
  expect(await sourcesOf(FIXTURES, './branches.ts', true)).toEqual([
    { path: 'branches.ts', file: null, line },
    { path: 'branches.ts', file: null, line },
  ]);
  expect(await sourcesOf(FIXTURES, './branches.ts', false)).toEqual([null, null]);
  expect(await sourcesOf(STATES, '../graphs/branches.ts', true)).toEqual([null, null]);
});
