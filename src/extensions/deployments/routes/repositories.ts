import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { TAGS } from '../../../http/openapi/tags.ts';
import type { ZodTypeProvider } from '../../../http/plugins/validation.ts';
import { DeploymentPath } from '../../../schemas/request-params.ts';
import { DeployKey, RepositoryToken, RepositoryTokenUpdate } from '../schemas/repositories.ts';
import type { RepositoryService } from '../services/repositories.ts';
import { DEPLOYMENT_ROUTE as config } from './deployments.ts';

const about = { tags: [TAGS.deployments], params: DeploymentPath };
const failures = { 404: 'Deployment … not found' };

export interface RepositoryRouteDeps {
  readonly deploymentRepositories: RepositoryService;
}

export function deployKeyRoutes(
  server: FastifyInstance,
  { deploymentRepositories: repositories }: RepositoryRouteDeps,
) {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const path = '/v2/deployments/:deployment_id/deploy-key';

  app.get(
    path,
    {
      config,
      schema: {
        ...about,
        operationId: 'get_deploy_key',
        summary: 'Get deploy key',
        description: 'The public key for repositories over ssh, and the pinned host keys.',
        response: { 200: DeployKey },
        failures,
      },
    },
    ({ actor, params }) => repositories.deployKey(actor, params.deployment_id),
  );

  app.post(
    path,
    {
      config,
      schema: {
        ...about,
        operationId: 'create_deploy_key',
        summary: 'Create deploy key',
        description:
          'Creates an ed25519 key that replaces the previous one. Add its public key to the repository as a read-only deploy key.',
        response: { 200: DeployKey },
        failures,
      },
    },
    ({ actor, params }) => repositories.createDeployKey(actor, params.deployment_id),
  );

  app.delete(
    path,
    {
      config,
      schema: {
        ...about,
        operationId: 'delete_deploy_key',
        summary: 'Delete deploy key',
        response: { 204: z.undefined() },
        failures,
      },
    },
    async ({ actor, params }, reply) => {
      await repositories.deleteDeployKey(actor, params.deployment_id);
      reply.code(204);
    },
  );

  app.delete(
    '/v2/deployments/:deployment_id/host-keys',
    {
      config,
      schema: {
        ...about,
        operationId: 'delete_host_keys',
        summary: 'Delete pinned host keys',
        description: 'The next connection over ssh pins whichever key the host presents.',
        response: { 204: z.undefined() },
        failures,
      },
    },
    async ({ actor, params }, reply) => {
      await repositories.deleteHostKeys(actor, params.deployment_id);
      reply.code(204);
    },
  );
}

export function repositoryTokenRoutes(
  server: FastifyInstance,
  { deploymentRepositories: repositories }: RepositoryRouteDeps,
) {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const path = '/v2/deployments/:deployment_id/repository-token';

  app.get(
    path,
    {
      config,
      schema: {
        ...about,
        operationId: 'get_repository_token',
        summary: 'Get repository token status',
        description: 'Whether a token is stored and for which host; never the token itself.',
        response: { 200: RepositoryToken },
        failures,
      },
    },
    ({ actor, params }) => repositories.token(actor, params.deployment_id),
  );

  app.put(
    path,
    {
      config,
      schema: {
        ...about,
        operationId: 'put_repository_token',
        summary: 'Set repository token',
        description:
          'Stores a token for reading a private repository over https. It is sent only to the host that `repo_url` names at this moment.',
        body: RepositoryTokenUpdate,
        response: { 200: RepositoryToken },
        failures: { ...failures, 409: 'A token requires a repository over https: …' },
      },
    },
    ({ actor, params, body }) => repositories.setToken(actor, params.deployment_id, body),
  );

  app.delete(
    path,
    {
      config,
      schema: {
        ...about,
        operationId: 'delete_repository_token',
        summary: 'Delete repository token',
        response: { 204: z.undefined() },
        failures,
      },
    },
    async ({ actor, params }, reply) => {
      await repositories.deleteToken(actor, params.deployment_id);
      reply.code(204);
    },
  );
}
