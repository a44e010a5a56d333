import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  AssistantGraphQuery,
  AssistantNodesQuery,
  AssistantSubgraphsQuery,
  GraphDrawing,
  GraphNode,
  GraphSchema,
  Subgraphs,
} from '../../schemas/assistants.ts';
import { AssistantPath, SubgraphPath } from '../../schemas/request-params.ts';
import type { AssistantService } from '../../services/assistants/assistants.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { isOnThisMachine } from '../same-machine.ts';

const tags = [TAGS.assistants];
const failures = { 404: 'Not Found' };

export function assistantGraphRoutes(
  server: FastifyInstance,
  { assistants }: { assistants: AssistantService },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/assistants/:assistant_id/graph',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_assistant_graph',
        summary: 'Get graph',
        description: 'Nodes and edges, for drawing the graph.',
        tags,
        params: AssistantPath,
        querystring: AssistantGraphQuery,
        response: { 200: GraphDrawing },
        failures: { ...failures, 422: 'xray: Invalid xray value' },
      },
    },
    ({ actor, params, query }) => assistants.draw(actor, params.assistant_id, query.xray),
  );

  app.get(
    '/assistants/:assistant_id/nodes',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'list_assistant_nodes',
        summary: 'List nodes',
        description:
          'The nodes of the graph and of its subgraphs, with the tools of each. To run a single node, see the guide on graphs.',
        tags,
        params: AssistantPath,
        querystring: AssistantNodesQuery,
        response: { 200: z.array(GraphNode) },
        failures,
      },
    },
    (request) =>
      assistants.nodes(request.actor, request.params.assistant_id, {
        source: request.query.source,
        is_local: isOnThisMachine(request),
      }),
  );

  app.get(
    '/assistants/:assistant_id/schemas',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_assistant_schemas',
        summary: 'Get schemas',
        description: 'JSON Schemas of the input, output, state, configuration and context of the graph.',
        tags,
        params: AssistantPath,
        response: { 200: GraphSchema },
        failures,
      },
    },
    ({ actor, params }) => assistants.schemas(actor, params.assistant_id),
  );

  app.get(
    '/assistants/:assistant_id/subgraphs',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_assistant_subgraphs',
        summary: 'Get subgraphs',
        description: 'The schemas of the subgraphs, by namespace.',
        tags,
        params: AssistantPath,
        querystring: AssistantSubgraphsQuery,
        response: { 200: Subgraphs },
        failures,
      },
    },
    ({ actor, params, query }) => assistants.subgraphs(actor, params.assistant_id, undefined, query.recurse),
  );

  app.get(
    '/assistants/:assistant_id/subgraphs/:namespace',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_assistant_subgraph',
        summary: 'Get subgraph',
        description: 'The schemas of one subgraph; `{}` if no subgraph has this namespace.',
        tags,
        params: SubgraphPath,
        querystring: AssistantSubgraphsQuery,
        response: { 200: Subgraphs },
        failures,
      },
    },
    ({ actor, params, query }) =>
      assistants.subgraphs(actor, params.assistant_id, params.namespace, query.recurse),
  );
}
