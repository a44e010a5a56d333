import type { FastifyInstance } from 'fastify';
import { RunPath, StatelessRunPath, StatelessStepPath, StepPath } from '../../schemas/request-params.ts';
import { RunSteps, StepDetails, StepsQuery } from '../../schemas/steps.ts';
import type { RunStepService } from '../../services/runs/run-steps.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { isOnThisMachine } from '../same-machine.ts';

const description =
  'Attempts of the run, with each node, model call and tool call: when it ran, for how long, with what outcome and how many tokens. A step is listed once the checkpoint with its result is stored; `current` lists steps in progress, whichever process executes the run.';
const shared = {
  description,
  querystring: StepsQuery,
  response: { 200: RunSteps },
  failures: { 404: 'Run not found' },
};
const oneStep = {
  description:
    'The step with what it was given and returned: messages, tools, parameters and answer of a model call; arguments and result of a tool; the update of a node. Only this answer has them, if the server records with `runs.record: contents`. Of a failed step also the causes of its error and its stack, with the source around the line, for callers that may see all threads.',
  response: { 200: StepDetails },
  failures: { 404: 'Run or step not found' },
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

  app.get(
    '/threads/:thread_id/runs/:run_id/steps/:step_id',
    {
      config: { scope: 'read' },
      schema: {
        ...oneStep,
        operationId: 'get_run_step',
        summary: 'Get a step of a run',
        tags: [TAGS.runs],
        params: StepPath,
      },
    },
    (request) =>
      runSteps.step(request.actor, request.params.thread_id, request.params, {
        is_local: isOnThisMachine(request),
      }),
  );

  app.get(
    '/runs/:run_id/steps/:step_id',
    {
      config: { scope: 'read' },
      schema: {
        ...oneStep,
        operationId: 'get_stateless_run_step',
        summary: 'Get a step of a run by its id',
        tags: [TAGS.stateless],
        params: StatelessStepPath,
      },
    },
    (request) =>
      runSteps.step(request.actor, undefined, request.params, { is_local: isOnThisMachine(request) }),
  );
}
