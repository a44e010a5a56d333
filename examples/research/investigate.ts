import { join } from 'node:path';
import { END, type GraphNode, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';
import { searchMarkdown } from '../markdown-search.ts';
import { Finding, findings } from './findings.ts';

const LIBRARY = join(import.meta.dirname, 'library');

const Investigation = new StateSchema({
  topic: z.string(),
  passages: z.array(Finding.shape.quotes.element.extend({ score: z.number() })).default(() => []),
  findings,
});

const search: GraphNode<typeof Investigation> = async ({ topic }, { writer }) => {
  const passages = await searchMarkdown(LIBRARY, topic, 5);
  writer?.({ step: 'search', topic, passages: passages.length });
  return { passages };
};

/** Keeps the passages that are nearly as good as the best one, two at most. */
const select: GraphNode<typeof Investigation> = ({ topic, passages }) => {
  const best = passages[0]?.score ?? 0;
  const quotes = passages.filter(({ score }) => score > best / 2).slice(0, 2);
  return { findings: [{ topic, quotes: quotes.map(({ score: _, ...quote }) => quote) }] };
};

/** Looks one topic up. The main graph runs one of these for each topic, all at the same time. */
export const investigate = new StateGraph({
  state: Investigation,
  input: new StateSchema({ topic: z.string() }),
  output: new StateSchema({ findings }),
})
  .addNode('search', search)
  .addNode('select', select)
  .addEdge(START, 'search')
  .addEdge('search', 'select')
  .addEdge('select', END)
  .compile();
