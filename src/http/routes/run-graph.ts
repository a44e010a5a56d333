import type { FastifyInstance } from 'fastify';
import {
  AssistantGraphQuery,
  AssistantSubgraphsQuery,
  GraphSchema,
  Subgraphs,
} from '../../schemas/assistants.ts';
import { RunPath } from '../../schemas/request-params.ts';
import { RunGraph } from '../../schemas/run-graph.ts';
import type { RunGraphService } from '../../services/runs/run-graph.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

const WHOSE = 'Configuration, context and code are those of `GET /threads/{thread_id}/runs/{run_id}/graph`.';

export function runGraphRoutes(server: FastifyInstance, { runGraph }: { runGraph: RunGraphService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/threads/:thread_id/runs/:run_id/graph',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_run_graph',
        summary: 'Get graph of a run',
        description:
          'Nodes and edges of the graph, with the configuration and context that the run was created with, even if its assistant has changed since. Uses the current code; in a deployment, the code of the revision that the thread belongs to, while that is kept.',
        tags: [TAGS.runs],
        params: RunPath,
        querystring: AssistantGraphQuery,
        response: { 200: RunGraph },
        failures: { 404: 'Run not found', 422: 'xray: Invalid xray value' },
      },
    },
    ({ actor, params, query }) => runGraph.draw(actor, params, query.xray),
  );

  app.get(
    '/threads/:thread_id/runs/:run_id/schemas',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_run_schemas',
        summary: 'Get schemas of a run',
        description: `JSON Schemas of the input, output, state, configuration and context of the graph of the run. ${WHOSE}`,
        tags: [TAGS.runs],
        params: RunPath,
        response: { 200: GraphSchema },
        failures: { 404: 'Run not found' },
      },
    },
    ({ actor, params }) => runGraph.schemas(actor, params),
  );

  app.get(
    '/threads/:thread_id/runs/:run_id/subgraphs',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_run_subgraphs',
        summary: 'Get subgraphs of a run',
        description: `The schemas of the subgraphs of the graph of the run, by namespace. ${WHOSE}`,
        tags: [TAGS.runs],
        params: RunPath,
        querystring: AssistantSubgraphsQuery,
        response: { 200: Subgraphs },
        failures: { 404: 'Run not found' },
      },
    },
    ({ actor, params, query }) => runGraph.subgraphs(actor, params, query.recurse),
  );
}
