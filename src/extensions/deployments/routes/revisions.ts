import type { FastifyInstance } from 'fastify';
import { TAGS } from '../../../http/openapi/tags.ts';
import type { ZodTypeProvider } from '../../../http/plugins/validation.ts';
import {
  DeploymentPath,
  ProjectPath,
  ProjectRevisionPath,
  RevisionPath,
} from '../../../schemas/request-params.ts';
import {
  Deployment,
  DeploymentLogs,
  LogSearch,
  Revision,
  RevisionCreate,
  RevisionQuery,
  RevisionsList,
} from '../schemas/deployments.ts';
import { RevisionExplanation } from '../schemas/revision-explanation.ts';
import type { DeploymentLogService } from '../services/logs.ts';
import type { RevisionExplainService } from '../services/revision-explain.ts';
import type { RevisionService } from '../services/revisions.ts';
import { DEPLOYMENT_ROUTE as config, originOf } from './deployments.ts';

const tags = [TAGS.deployments];
const missing = { 404: 'Revision … of deployment "…" not found' };

export function revisionRoutes(
  server: FastifyInstance,
  { deploymentRevisions: revisions }: { deploymentRevisions: RevisionService },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/v2/deployments/:deployment_id/revisions',
    {
      config,
      schema: {
        operationId: 'list_revisions',
        summary: 'List revisions',
        description: 'Lists revisions, newest first.',
        tags,
        params: DeploymentPath,
        querystring: RevisionQuery,
        response: { 200: RevisionsList },
        failures: missing,
      },
    },
    ({ actor, params, query }) => revisions.list(actor, params.deployment_id, query),
  );

  app.post(
    '/v2/deployments/:deployment_id/revisions',
    {
      config,
      schema: {
        operationId: 'create_revision',
        summary: 'Create revision',
        description: 'Builds and deploys the newest sources, even if they have not changed.',
        tags,
        params: DeploymentPath,
        body: RevisionCreate,
        response: { 201: Revision },
        failures: missing,
      },
    },
    async ({ actor, params, body }, reply) => {
      reply.code(201);
      return revisions.create(actor, params.deployment_id, body);
    },
  );

  app.get(
    '/v2/deployments/:deployment_id/revisions/:revision_id',
    {
      config,
      schema: {
        operationId: 'get_revision',
        summary: 'Get revision',
        tags,
        params: RevisionPath,
        response: { 200: Revision },
        failures: missing,
      },
    },
    ({ actor, params }) => revisions.get(actor, params.deployment_id, params.revision_id),
  );

  app.post(
    '/v2/deployments/:deployment_id/revisions/:revision_id/redeploy',
    {
      config,
      schema: {
        operationId: 'redeploy_revision',
        summary: 'Redeploy revision',
        description:
          'Queues a revision with the same code, such as for a rollback. Reuses the build of the old revision while it is kept.',
        tags,
        params: RevisionPath,
        response: { 200: Deployment },
        failures: {
          ...missing,
          409: 'Neither the build of this revision nor its sources are stored any more: deploy the sources again.',
        },
      },
    },
    (request) =>
      revisions.redeploy(
        request.actor,
        request.params.deployment_id,
        request.params.revision_id,
        originOf(request),
      ),
  );

  app.post(
    '/v2/deployments/:deployment_id/revisions/:revision_id/interrupt',
    {
      config,
      schema: {
        operationId: 'interrupt_revision',
        summary: 'Interrupt revision',
        description:
          'Ends a revision that is not deployed yet, or a canary, whose runs continue in the active revision. The active revision keeps serving.',
        tags,
        params: RevisionPath,
        response: { 200: Revision },
        failures: { ...missing, 409: 'The revision is … and can no longer be interrupted.' },
      },
    },
    ({ actor, params }) => revisions.interrupt(actor, params.deployment_id, params.revision_id),
  );

  app.post(
    '/v2/deployments/:deployment_id/revisions/:revision_id/promote',
    {
      config,
      schema: {
        operationId: 'promote_revision',
        summary: 'Promote canary',
        description: 'Makes the canary the active revision. The previous one drains as after any deployment.',
        tags,
        params: RevisionPath,
        response: { 200: Revision },
        failures: { ...missing, 409: 'Revision … is not a serving canary.' },
      },
    },
    ({ actor, params }) => revisions.promote(actor, params.deployment_id, params.revision_id),
  );
}

export function deploymentLogRoutes(
  server: FastifyInstance,
  { deploymentLogs: logs }: { deploymentLogs: DeploymentLogService },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  for (const kind of ['build', 'deploy'] as const) {
    app.post(
      `/v1/projects/:project_id/revisions/:revision_id/${kind}_logs`,
      {
        config,
        schema: {
          operationId: `search_revision_${kind}_logs`,
          summary: kind === 'build' ? 'Read build log' : 'Read revision log',
          description:
            kind === 'build'
              ? 'Output of fetching and building the sources.'
              : "Output of the revision's processes.",
          tags,
          params: ProjectRevisionPath,
          body: LogSearch,
          response: { 200: DeploymentLogs },
          failures: missing,
        },
      },
      ({ actor, params, body }) => logs.ofRevision(actor, params.project_id, params.revision_id, kind, body),
    );
  }

  app.post(
    '/v1/projects/:project_id/deploy_logs',
    {
      config,
      schema: {
        operationId: 'search_deploy_logs',
        summary: 'Read deployment log',
        description: 'Output of the processes of all revisions.',
        tags,
        params: ProjectPath,
        body: LogSearch,
        response: { 200: DeploymentLogs },
        failures: { 404: 'Deployment … not found' },
      },
    },
    ({ actor, params, body }) => logs.ofDeployment(actor, params.project_id, body),
  );
}

export function revisionExplainRoutes(
  server: FastifyInstance,
  deps: { readonly revisionExplain: RevisionExplainService; readonly mount_prefix: string },
) {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const { revisionExplain, mount_prefix } = deps;
  const description =
    'Why the revision is not deployed yet or failed, whether it serves, what it is still doing, and what to do next.';
  const response = { 200: RevisionExplanation };

  app.get(
    '/v2/deployments/:deployment_id/revisions/:revision_id/explain',
    {
      config,
      schema: {
        operationId: 'explain_revision',
        summary: 'Explain revision',
        description,
        tags,
        params: RevisionPath,
        response,
        failures: missing,
      },
    },
    (request) => {
      const { deployment_id, revision_id } = request.params;
      return revisionExplain.explain(
        request.actor,
        deployment_id,
        revision_id,
        originOf(request) + mount_prefix,
      );
    },
  );

  app.get(
    '/v2/revisions/:revision_id/explain',
    {
      config,
      schema: {
        operationId: 'explain_revision_by_id',
        summary: 'Explain revision by id',
        description,
        tags,
        params: RevisionPath.pick({ revision_id: true }),
        response,
        failures: { 404: 'Revision … not found' },
      },
    },
    (request) => {
      const { revision_id } = request.params;
      return revisionExplain.explain(request.actor, undefined, revision_id, originOf(request) + mount_prefix);
    },
  );
}
