import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { DeployKey, RepositoryToken, RepositoryTokenUpdate } from '../../schemas/deployment-repositories.ts';
import { DeploymentPath } from '../../schemas/request-params.ts';
import type { RepositoryService } from '../../services/deployments/repositories.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';
import { DEPLOYMENT_ROUTE as config } from './deployments.ts';

const about = { tags: [TAGS.deployments], params: DeploymentPath };
const failures = { 404: 'There is no deployment …' };

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
        description: 'The public half of the key for repositories over ssh, and the pinned keys of hosts.',
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
          'Makes an ed25519 key, in place of the one before. Add its public half to the repository as a deploy key that can only read.',
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
        description: 'The next connection over ssh pins the key that the host has then.',
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
        summary: 'Get what is known of the token',
        description: 'Whether there is one and for which host; never the token itself.',
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
        summary: 'Set the token of the repository',
        description:
          'By which a private repository is read over https. It is given to the host that `repo_url` names now, and to no other.',
        body: RepositoryTokenUpdate,
        response: { 200: RepositoryToken },
        failures: { ...failures, 409: 'A token is for a repository over https: …' },
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
        summary: 'Delete the token of the repository',
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
