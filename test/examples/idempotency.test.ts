import { join } from 'node:path';
import { END, type GraphNode, MemorySaver, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { blocksOf } from './blocks.ts';
import { folderWith } from './inside-repository.ts';

const Order = new StateSchema({ amount: z.number(), receipt: z.string().default('') });

test('docs/durability.md: a repeated step sends the same key', async () => {
  const [source] = blocksOf('docs/durability.md').filter(({ language }) => language === 'ts');
  await using folder = await folderWith({ 'charge.ts': source?.text ?? '' });
  const { charge } = await import(join(folder.root, 'charge.ts'));
  const keys: unknown[] = [];
  vi.stubGlobal('fetch', async (_url: string, { headers }: { headers: Record<string, string> }) => {
    if (keys.push(headers['idempotency-key']) === 1) throw new Error('connection lost');
    return new Response('paid');
  });

  const config = { configurable: { thread_id: 't', run_id: 'r' } };
  const graph = shopOf(charge);
  await expect(graph.invoke({ amount: 3 }, config)).rejects.toThrow('connection lost');
  expect(await graph.invoke(null, config)).toEqual({ amount: 3, receipt: 'paid' });
  vi.unstubAllGlobals();

  expect(keys).toEqual([expect.stringMatching(/^r:[\w-]+:[\w-]+$/), keys[0]]);
});

function shopOf(charge: GraphNode<typeof Order>) {
  return new StateGraph(Order)
    .addNode('charge', charge)
    .addEdge(START, 'charge')
    .addEdge('charge', END)
    .compile({ checkpointer: new MemorySaver() });
}
