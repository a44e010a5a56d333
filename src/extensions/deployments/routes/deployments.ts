import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { TAGS } from '../../../http/openapi/tags.ts';
import type { ZodTypeProvider } from '../../../http/plugins/validation.ts';
import { publicUrl } from '../../../http/public-url.ts';
import { DeploymentPath } from '../../../schemas/request-params.ts';
import {
  Deployment,
  DeploymentCreate,
  DeploymentIds,
  DeploymentPatch,
  DeploymentQuery,
  DeploymentsDeleted,
  DeploymentsList,
  UploadUrl,
} from '../schemas/deployments.ts';
import { DeploymentHealth } from '../schemas/health.ts';
import type { DeploymentService } from '../services/control-plane.ts';
import type { DeploymentHealthService } from '../services/health.ts';
import type { UploadService } from '../services/uploads.ts';

export const DEPLOYMENT_ROUTE = { scope: 'deployments:write' } as const;
const config = DEPLOYMENT_ROUTE;
const tags = [TAGS.deployments];
const missing = { 404: 'Deployment … not found' };

export interface DeploymentRouteDeps {
  readonly deployments: DeploymentService;
  readonly deploymentHealth: DeploymentHealthService;
  readonly deploymentUploads: UploadService;
  readonly mount_prefix: string;
}

/** URL of this server for the caller. */
export function originOf(request: FastifyRequest): string {
  return publicUrl(request) ?? 'http://localhost';
}

export function deploymentRoutes(server: FastifyInstance, { deployments }: DeploymentRouteDeps) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/v2/deployments',
    {
      config,
      schema: {
        operationId: 'list_deployments',
        summary: 'List deployments',
        description: 'Lists revisions, newest first.',
        tags,
        querystring: DeploymentQuery,
        response: { 200: DeploymentsList },
      },
    },
    (request) => deployments.list(request.actor, request.query, originOf(request)),
  );

  app.post(
    '/v2/deployments',
    {
      config,
      schema: {
        operationId: 'create_deployment',
        summary: 'Create deployment',
        description:
          'Creates a deployment, and queues its first revision if there are sources: `github` is any git repository, `internal_source` an upload.',
        tags,
        body: DeploymentCreate,
        response: { 201: Deployment },
        failures: { 409: 'A deployment named "…" already exists. …' },
      },
    },
    async (request, reply) => {
      reply.code(201);
      return deployments.create(request.actor, request.body, originOf(request));
    },
  );

  app.delete(
    '/v2/deployments',
    {
      config,
      schema: {
        operationId: 'delete_deployments',
        summary: 'Delete deployments',
        description: 'Deletes several deployments; returns 207 if some could not be deleted.',
        tags,
        querystring: DeploymentIds,
        response: { 200: DeploymentsDeleted, 207: DeploymentsDeleted },
      },
    },
    async (request, reply) => {
      const result = await deployments.deleteMany(request.actor, request.query.deployment_ids);
      return reply.code(result.failed.length > 0 ? 207 : 200).send(result);
    },
  );
}

export function oneDeploymentRoutes(
  server: FastifyInstance,
  { deployments, deploymentUploads, mount_prefix }: DeploymentRouteDeps,
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/v2/deployments/:deployment_id',
    {
      config,
      schema: {
        operationId: 'get_deployment',
        summary: 'Get deployment',
        tags,
        params: DeploymentPath,
        response: { 200: Deployment },
        failures: missing,
      },
    },
    (request) => deployments.get(request.actor, request.params.deployment_id, originOf(request)),
  );

  app.patch(
    '/v2/deployments/:deployment_id',
    {
      config,
      schema: {
        operationId: 'patch_deployment',
        summary: 'Update deployment',
        description:
          'A `source_revision_config` or `secrets` queues a revision. `secrets` replaces all secrets; a masked value keeps the stored one.',
        tags,
        params: DeploymentPath,
        body: DeploymentPatch,
        response: { 200: Deployment },
        failures: missing,
      },
    },
    (request) =>
      deployments.update(request.actor, request.params.deployment_id, request.body, originOf(request)),
  );

  app.delete(
    '/v2/deployments/:deployment_id',
    {
      config,
      schema: {
        operationId: 'delete_deployment',
        summary: 'Delete deployment',
        description: 'Stops the deployment, and deletes its builds, threads and all other data.',
        tags,
        params: DeploymentPath,
        response: { 204: z.undefined() },
        failures: missing,
      },
    },
    async ({ actor, params }, reply) => {
      await deployments.delete(actor, params.deployment_id);
      reply.code(204);
    },
  );

  app.post(
    '/v2/deployments/:deployment_id/upload-url',
    {
      config,
      schema: {
        operationId: 'create_deployment_upload_url',
        summary: 'Create upload URL',
        description:
          'A URL that accepts one `PUT` of the sources as `.tar.gz`, without an API key, for 15 minutes. Then send its `object_path` as `source_tarball_path` of a revision.',
        tags,
        params: DeploymentPath,
        response: { 200: UploadUrl },
        failures: missing,
      },
    },
    (request) =>
      deploymentUploads.createUrl(
        request.actor,
        request.params.deployment_id,
        originOf(request) + mount_prefix,
      ),
  );

  app.post(
    '/v2/deployments/:deployment_id/push-token',
    {
      config,
      schema: {
        operationId: 'create_deployment_push_token',
        summary: 'Create image registry token',
        description: 'Always rejected: the server has no image registry.',
        tags,
        params: DeploymentPath,
        response: { 204: z.undefined() },
        failures: { ...missing, 400: 'Images are not supported: …' },
      },
    },
    (request) => deployments.refuseImages(request.actor, request.params.deployment_id),
  );
}

export function deploymentHealthRoutes(
  server: FastifyInstance,
  { deploymentHealth: health, mount_prefix }: DeploymentRouteDeps,
) {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/v2/deployments/:deployment_id/health',
    {
      config,
      schema: {
        operationId: 'get_deployment_health',
        summary: 'Get deployment health',
        description:
          'Current state of the deployment: which revision serves and which are still draining, with their processes, memory and open requests; whether it is healthy; and what to do next.',
        tags,
        params: DeploymentPath,
        response: { 200: DeploymentHealth },
        failures: missing,
      },
    },
    (request) => health.get(request.actor, request.params.deployment_id, originOf(request) + mount_prefix),
  );
}
