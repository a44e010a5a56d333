import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { systemAssistantId } from '../../core/ids.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import { Model, ModelList } from '../../schemas/chat-completions.ts';
import type { AssistantService } from '../../services/assistants.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypes } from '../plugins/contract.ts';

const tags = [TAGS.openai];

/** Every assistant that the caller may see is a model. */
export function modelRoutes(server: FastifyInstance, { assistants }: { assistants: AssistantService }) {
  const app = server.withTypeProvider<ZodTypes>();

  app.get(
    '/v1/models',
    {
      schema: {
        operationId: 'list_models',
        summary: 'List models',
        description: 'Every assistant is a model: a graph by its name, an assistant of your own by its id.',
        tags,
        response: { 200: ModelList },
      },
    },
    async ({ actor }) => ({
      object: 'list' as const,
      data: (await assistants.all(actor)).map(modelOf),
    }),
  );

  app.get(
    '/v1/models/:model',
    {
      schema: {
        operationId: 'get_model',
        summary: 'Get model',
        description: 'One assistant as a model.',
        tags,
        params: z.object({
          model: z.string().meta({ description: 'A graph or an assistant.', example: 'agent' }),
        }),
        response: { 200: Model },
        failures: { 404: 'Thread or assistant not found.' },
      },
    },
    async ({ actor, params }) => modelOf(await assistants.resolve(actor, params.model)),
  );
}

function modelOf({ assistant_id, graph_id, created_at }: Assistant): Model {
  const id = assistant_id === systemAssistantId(graph_id) ? graph_id : assistant_id;
  return { id, object: 'model', created: Math.floor(Date.parse(created_at) / 1000), owned_by: graph_id };
}
