import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from '../../../http/plugins/validation.ts';
import { Name } from '../../../schemas/bounds.ts';
import { DeploymentPath } from '../../../schemas/request-params.ts';

const PagePath = DeploymentPath.extend({ tenant_id: Name });

/**
 * Redirects the URL that the official CLI prints after `deploy` to the deployment in Studio, which asks for a
 * key itself. The target is relative, so it is right under every prefix, even one that only a proxy knows.
 */
export function deploymentPages(server: FastifyInstance, page_path: string): void {
  server.withTypeProvider<ZodTypeProvider>().get(
    '/o/:tenant_id/host/deployments/:deployment_id',
    // No operation id: a page is not part of the API.
    { config: { open: true }, schema: { params: PagePath } },
    ({ params }, reply) => reply.redirect(`../../../..${page_path}/deployments/${params.deployment_id}`),
  );
}
