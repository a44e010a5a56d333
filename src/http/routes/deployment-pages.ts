import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { DeploymentPath } from '../../schemas/request-params.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

const PagePath = DeploymentPath.extend({ tenant_id: z.string() });

/**
 * The address that the official CLI prints after `deploy` leads to the deployment in Studio, which asks for a key itself.
 * It is relative: it holds under every prefix, also under one that only a proxy knows.
 */
export function deploymentPages(server: FastifyInstance, studio_path: string): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/o/:tenant_id/host/deployments/:deployment_id',
    // Without an id of an operation: it is a page, and not part of the API.
    { config: { open: true }, schema: { params: PagePath } },
    ({ params }, reply) => reply.redirect(`../../../..${studio_path}/deployments/${params.deployment_id}`),
  );
}
