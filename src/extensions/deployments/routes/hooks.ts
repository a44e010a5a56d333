import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TAGS } from '../../../http/openapi/tags.ts';
import type { ZodTypeProvider } from '../../../http/plugins/validation.ts';
import { DeploymentPath } from '../../../schemas/request-params.ts';
import {
  DeploymentHook,
  DeploymentHookQuery,
  DeploymentHookSecret,
  DeploymentHooksList,
  HookKind,
} from '../schemas/hooks.ts';
import type { HookService } from '../services/hooks.ts';
import { DEPLOYMENT_ROUTE as config, originOf } from './deployments.ts';

const tags = [TAGS.deployments];
const missing = { 404: 'Deployment … not found' };
const HookPath = DeploymentPath.extend({
  kind: HookKind.meta({ description: 'The service that sends the hook.' }),
});

export interface HookRouteDeps {
  readonly deploymentHooks: HookService;
  readonly mount_prefix: string;
}

export function deploymentHookRoutes(
  server: FastifyInstance,
  { deploymentHooks: hooks, mount_prefix }: HookRouteDeps,
) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.get(
    '/v2/deployments/:deployment_id/hooks',
    {
      config,
      schema: {
        operationId: 'list_deployment_hooks',
        summary: 'List hooks',
        description:
          'Received hooks and their outcomes, newest first; the last 100 are kept. Also the URLs to send hooks to, and the state of polling.',
        tags,
        params: DeploymentPath,
        querystring: DeploymentHookQuery,
        response: { 200: DeploymentHooksList },
        failures: missing,
      },
    },
    (request) =>
      hooks.list(
        request.actor,
        request.params.deployment_id,
        request.query,
        originOf(request) + mount_prefix,
      ),
  );

  app.post(
    '/v2/deployments/:deployment_id/hook-secret',
    {
      config,
      schema: {
        operationId: 'create_deployment_hook_secret',
        summary: 'Create hook secret',
        description:
          'Creates the hook secret, replaces the previous one, and returns it this once, with the URLs to enter at the git service.',
        tags,
        params: DeploymentPath,
        response: { 200: DeploymentHookSecret },
        failures: missing,
      },
    },
    (request) =>
      hooks.createSecret(request.actor, request.params.deployment_id, originOf(request) + mount_prefix),
  );
}

/** The signature covers the raw bytes of the body, so it is not parsed. Callers send no API key. */
export function receiveHookRoutes(server: FastifyInstance, { deploymentHooks: hooks }: HookRouteDeps) {
  server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      server.bodies.read(request, payload),
    );
    scope.withTypeProvider<ZodTypeProvider>().post(
      '/v2/deployments/:deployment_id/hooks/:kind',
      {
        config: { open: true },
        schema: {
          operationId: 'receive_deployment_hook',
          summary: 'Receive a hook',
          description:
            'For git services: a push to the branch of the deployment queues a revision of that commit, if `build_on_push` is set. The request authenticates itself by a signature of its body or by the hook secret of the deployment. A repeated delivery gets the response of the first one.',
          tags,
          params: HookPath,
          response: { 202: DeploymentHook },
          failures: { 401: 'The signature does not match: …' },
        },
      },
      async ({ params, headers, body }, reply) => {
        reply.code(202);
        const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
        return hooks.receive(params.deployment_id, { kind: params.kind, headers, body: bytes });
      },
    );
    done();
  });
}
