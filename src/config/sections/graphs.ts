import { z } from 'zod';
import { didYouMean } from '../../core/did-you-mean.ts';
import { MAX_INTEGER } from '../../schemas/numbers.ts';
import { group, integer, mustBe, stringList, text } from '../value-types.ts';

const GraphPath = text().regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./agent.ts:graph');

export const Graph = z.union(
  [
    GraphPath,
    group({
      path: GraphPath.describe('File and export of the graph.'),
      description: text().optional().describe('What the graph does, for people and for other agents.'),
    }),
  ],
  'must be path:export, or a map with path and description',
);

const freeMap = () => z.record(z.string(), z.unknown(), mustBe('a map')).optional().meta({ type: 'map' });

export const AssistantDefaults = group({
  configurable: freeMap().describe('Configurable values of the graph.'),
  context: freeMap().describe('The newer name of `configurable`; not both.'),
  tags: stringList().optional().describe('Tags of its runs.'),
  recursion_limit: integer(1, MAX_INTEGER, 'steps').optional().describe('Maximum number of steps of a run.'),
}).refine(({ configurable, context }) => !(configurable && context), 'set configurable or context, not both');

/** Keys of `assistants` that name no graph, with the problem: they would have no effect. */
export function unknownGraphs(assistants: object, graphs: object): { key: string; what: string }[] {
  const known = Object.keys(graphs);
  return Object.keys(assistants)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = didYouMean(name, known);
      const hint = meant === undefined ? `the graphs are ${known.join(', ')}` : `did you mean ${meant}?`;
      return { key: `assistants.${name}`, what: `no graph has this name; ${hint}` };
    });
}
