import { z } from 'zod';
import { nearest } from '../../core/nearest.ts';
import { MAX_INTEGER } from '../../schemas/numbers.ts';
import { group, list, must, text, whole } from '../values.ts';

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

const values = () => z.record(z.string(), z.unknown(), must('a map')).optional().meta({ type: 'map' });

export const Defaults = group({
  configurable: values().describe('Configurable values of the graph.'),
  context: values().describe('The newer name of `configurable`; not both.'),
  tags: list().optional().describe('Tags of its runs.'),
  recursion_limit: whole(1, MAX_INTEGER, 'steps').optional().describe('Maximum number of steps of a run.'),
}).refine(
  ({ configurable, context }) => !(configurable && context),
  'give configurable or context, not both',
);

/** The keys of `assistants` that are no graph, each with what is wrong. They would have no effect. */
export function unknownGraphs(assistants: object, graphs: object): { key: string; what: string }[] {
  const known = Object.keys(graphs);
  return Object.keys(assistants)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = nearest(name, known);
      const hint = meant === undefined ? `the graphs are ${known.join(', ')}` : `did you mean ${meant}?`;
      return { key: `assistants.${name}`, what: `there is no graph of this name; ${hint}` };
    });
}
