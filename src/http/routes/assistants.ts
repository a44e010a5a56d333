import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import {
  Assistant,
  AssistantCreate,
  AssistantDeleteQuery,
  AssistantFilter,
  AssistantPatch,
  AssistantSearch,
} from '../../schemas/assistants.ts';
import { AssistantIdPath, AssistantPath, EXAMPLES } from '../../schemas/request-params.ts';
import type { AssistantService } from '../../services/assistants/assistants.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { PAGE_HEADERS, paged } from '../reply.ts';

const tags = [TAGS.assistants];
const MISSING = `Assistant ${EXAMPLES.assistant_id} not found`;
const BOTH = 'Cannot specify both configurable and context. Prefer setting context alone.';
const NO_GRAPH = "Graph 'x' not found. Expected one of: ['echo']";

export function assistantRoutes(server: FastifyInstance, { assistants }: { assistants: AssistantService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/assistants',
    {
      config: { scope: 'admin', idempotent: true },
      schema: {
        operationId: 'create_assistant',
        summary: 'Create assistant',
        description: 'Creates an assistant: a graph with its own configuration, context and name.',
        tags,
        body: AssistantCreate,
        example: {
          assistant_id: EXAMPLES.assistant_id,
          graph_id: EXAMPLES.graph,
          name: 'My assistant',
          metadata: { team: 'support' },
          if_exists: 'do_nothing',
        },
        response: { 200: Assistant },
        failures: { 400: BOTH, 404: NO_GRAPH, 409: `Assistant ${EXAMPLES.assistant_id} already exists` },
      },
    },
    (request) => assistants.create(request.actor, request.body),
  );

  app.post(
    '/assistants/search',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_assistants',
        summary: 'Search assistants',
        description: 'Lists assistants by metadata, graph or part of the name.',
        tags,
        body: AssistantSearch,
        example: { graph_id: EXAMPLES.graph, limit: 10, offset: 0 },
        response: { 200: z.array(Assistant) },
        response_headers: PAGE_HEADERS,
        failures: { 404: NO_GRAPH },
      },
    },
    async (request, reply) => paged(reply, await assistants.search(request.actor, request.body)),
  );

  app.post(
    '/assistants/count',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'count_assistants',
        summary: 'Count assistants',
        description: 'Counts assistants by metadata, graph or part of the name.',
        tags,
        body: AssistantFilter,
        example: { graph_id: EXAMPLES.graph },
        response: { 200: z.int() },
      },
    },
    (request) => assistants.count(request.actor, request.body),
  );

  app.get(
    '/assistants/:assistant_id',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'get_assistant',
        summary: 'Get assistant',
        description: 'The current version of the assistant.',
        tags,
        params: AssistantPath,
        response: { 200: Assistant },
        failures: { 404: 'Not Found' },
      },
    },
    (request) => assistants.get(request.actor, request.params.assistant_id),
  );

  app.patch(
    '/assistants/:assistant_id',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'patch_assistant',
        summary: 'Update assistant',
        description: 'Creates a new version. `config` and `context` are replaced, `metadata` is merged.',
        tags,
        params: AssistantIdPath,
        body: AssistantPatch,
        example: { name: 'My better assistant', config: { recursion_limit: 20 } },
        response: { 200: Assistant },
        failures: { 400: BOTH, 404: MISSING },
      },
    },
    (request) => assistants.update(request.actor, request.params.assistant_id, request.body),
  );

  app.delete(
    '/assistants/:assistant_id',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'delete_assistant',
        summary: 'Delete assistant',
        description: 'Deletes all its versions and runs, and stops active runs.',
        tags,
        params: AssistantIdPath,
        querystring: AssistantDeleteQuery,
        response: { 204: z.undefined() },
        failures: { 404: `Assistant with ID ${EXAMPLES.assistant_id} not found` },
      },
    },
    async (request, reply) => {
      await assistants.delete(request.actor, request.params.assistant_id, request.query);
      reply.code(204);
    },
  );
}
