import type { FastifyInstance } from 'fastify';
import { RunPath, StatelessRunPath } from '../../schemas/request-params.ts';
import { RunSteps, StepsQuery } from '../../schemas/steps.ts';
import type { RunStepService } from '../../services/runs/run-steps.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

const description =
  'Attempts of the run, with each node, model call and tool call: when it ran, for how long, with what outcome and how many tokens. A step is listed once the checkpoint with its result is stored; `current` lists steps in progress, whichever process executes the run.';
const shared = {
  description,
  querystring: StepsQuery,
  response: { 200: RunSteps },
  failures: { 404: 'Run not found' },
};

/** Recorded steps of runs (OBSERVABILITY §1). */
export function runStepRoutes(server: FastifyInstance, { runSteps }: { runSteps: RunStepService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/threads/:thread_id/runs/:run_id/steps',
    {
      config: { scope: 'read' },
      schema: {
        ...shared,
        operationId: 'list_run_steps',
        summary: 'List steps of a run',
        tags: [TAGS.runs],
        params: RunPath,
      },
    },
    ({ actor, params, query }) => runSteps.steps(actor, params.thread_id, params.run_id, query),
  );

  app.get(
    '/runs/:run_id/steps',
    {
      config: { scope: 'read' },
      schema: {
        ...shared,
        operationId: 'list_stateless_run_steps',
        summary: 'List steps of a run by its id',
        tags: [TAGS.stateless],
        params: StatelessRunPath,
      },
    },
    ({ actor, params, query }) => runSteps.steps(actor, undefined, params.run_id, query),
  );
}
