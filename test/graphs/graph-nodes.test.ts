import { join } from 'node:path';
import { tool } from '@langchain/core/tools';
import { Annotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { RunnableGraph } from '../../src/graphs/runnable.ts';
import { langGraph } from '../../src/graphs/runtime/langgraph.ts';
import { load } from './support.ts';

const STATES = join(import.meta.dirname, '../fixtures/states');

test('the tools of an agent of createAgent belong to its node', async () => {
  const graphs = await load({ it: './create-agent.ts:withTool' }, STATES);
  const graph = await graphs.get('it', { configurable: {} }, 'assistants.read');
  expect(await graph.nodes()).toMatchObject([
    { id: 'model_request', tools: [] },
    {
      id: 'tools',
      tools: [{ name: 'echo', input_schema: { properties: { text: { type: 'string' } } } }],
    },
  ]);
});

test('a tool whose schema JSON Schema cannot express, and what is no tool, do not hide the others', async () => {
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
  const nodes = await langGraph('it', graph as unknown as RunnableGraph, STATES).nodes();
  expect(nodes).toMatchObject([
    { id: 'tools', tools: [{ name: 'odd', input_schema: null }, { name: 'usual' }] },
  ]);
});

test('a graph of another kind has no nodes that are known', async () => {
  const foreign = { stream: async () => [], getState: async () => ({}) } as unknown as RunnableGraph;
  expect(await langGraph('it', foreign, STATES).nodes()).toEqual([]);
});
