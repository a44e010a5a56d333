import type { FastifyInstance } from 'fastify';
import { RunPath, StatelessRunPath } from '../../schemas/path-params.ts';
import { RunExplanation } from '../../schemas/run-explanation.ts';
import type { RunExplainService } from '../../services/run-explain.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypes } from '../plugins/contract.ts';

const response = { 200: RunExplanation };
const failures = { 404: 'Not Found' };

export function runExplainRoutes(server: FastifyInstance, { explain }: { explain: RunExplainService }) {
  const app = server.withTypeProvider<ZodTypes>();

  app.get(
    '/threads/:thread_id/runs/:run_id/explain',
    {
      schema: {
        operationId: 'explain_run',
        summary: 'Explain run',
        description:
          'Why the run is in its state: what it waits for, which worker executes it, which attempt it is.',
        tags: [TAGS.runs],
        params: RunPath,
        response,
        failures,
      },
    },
    ({ actor, params }) => explain.explain(actor, params.thread_id, params.run_id),
  );

  app.get(
    '/runs/:run_id/explain',
    {
      schema: {
        operationId: 'explain_stateless_run',
        summary: 'Explain run',
        description: 'Why the run is in its state, found by its id alone.',
        tags: [TAGS.stateless],
        params: StatelessRunPath,
        response,
        failures,
      },
    },
    ({ actor, params }) => explain.explain(actor, undefined, params.run_id),
  );
}
