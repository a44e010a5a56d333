import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { InvalidInput } from '../../core/errors.ts';
import {
  Assistant,
  AssistantLatest,
  AssistantLatestQuery,
  AssistantVersion,
  AssistantVersionsSearch,
} from '../../schemas/assistants.ts';
import { AssistantIdPath, EXAMPLES } from '../../schemas/request-params.ts';
import type { AssistantService } from '../../services/assistants/assistants.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

const tags = [TAGS.assistants];

export function assistantVersionRoutes(
  server: FastifyInstance,
  { assistants }: { assistants: AssistantService },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/assistants/:assistant_id/versions',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'search_assistant_versions',
        summary: 'List versions',
        description: 'All versions of the assistant, newest first.',
        tags,
        params: AssistantIdPath,
        body: AssistantVersionsSearch.prefault({}),
        example: { limit: 10, offset: 0 },
        response: { 200: z.array(AssistantVersion) },
        failures: { 404: `Assistant ${EXAMPLES.assistant_id} not found` },
      },
    },
    ({ actor, params, body }) => assistants.versions(actor, params.assistant_id, body),
  );

  app.post(
    '/assistants/:assistant_id/latest',
    {
      config: { scope: 'admin' },
      schema: {
        operationId: 'set_latest_assistant_version',
        summary: 'Set latest version',
        description:
          'Makes an earlier version the current one. The version comes from the body or the query.',
        tags,
        params: AssistantIdPath,
        querystring: AssistantLatestQuery,
        body: AssistantLatest.prefault({}),
        example: { version: 1 },
        response: { 200: Assistant },
        failures: { 404: `Version 99 not found for assistant ${EXAMPLES.assistant_id}` },
      },
    },
    ({ actor, params, body, query }) => {
      const version = body.version ?? query.version;
      if (version === undefined) throw new InvalidInput('version is required');
      return assistants.setLatest(actor, params.assistant_id, version);
    },
  );
}
