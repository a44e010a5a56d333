import type { FastifyInstance } from 'fastify';
import type { RouteDeps } from '../../http/server-deps.ts';
import type { Contribution, Core } from '../extension.ts';
import { publicPath } from './addresses.ts';
import { createDeployKey } from './build/deploy-key.ts';
import { readHook } from './build/hooks.ts';
import { deploymentHealthRoutes, deploymentRoutes, oneDeploymentRoutes } from './routes/deployments.ts';
import { deploymentHookRoutes, receiveHookRoutes } from './routes/hooks.ts';
import { deploymentPages } from './routes/pages.ts';
import { deployKeyRoutes, repositoryTokenRoutes } from './routes/repositories.ts';
import { deploymentLogRoutes, revisionExplainRoutes, revisionRoutes } from './routes/revisions.ts';
import { deploymentUploadRoutes } from './routes/uploads.ts';
import { deploymentSettings } from './section.ts';
import type { BuildRevision } from './services/builder.ts';
import { deploymentServices } from './services/deployment-services.ts';
import { openDeployments } from './serving/data-plane.ts';
import { deploymentStorage } from './storage/all-repositories.ts';
import { deploymentFiles } from './storage/files.ts';

/** In the order of the paths. */
const ROUTES = [
  deploymentRoutes,
  oneDeploymentRoutes,
  deploymentHealthRoutes,
  deploymentUploadRoutes,
  deploymentHookRoutes,
  receiveHookRoutes,
  deployKeyRoutes,
  repositoryTokenRoutes,
  revisionRoutes,
  revisionExplainRoutes,
  deploymentLogRoutes,
];

/** Opens the data plane, and the control plane over it. */
export async function openContribution({ config, given, ...core }: Core): Promise<Contribution> {
  const storage = { ...core.storage, ...deploymentStorage(core.storage.database.db) };
  const build = given['deployments'] as BuildRevision | undefined;
  const { plane, dispatch, ...companion } = await openDeployments(config, { ...core, storage, build });
  const { allow_local_sources, poll_seconds, folder } = deploymentSettings(config);
  const services = deploymentServices({
    ...core,
    ...storage,
    ...{ plane, readHook, createDeployKey, allow_local_sources, poll_seconds },
    files: deploymentFiles(folder),
    pathOf: (name) => publicPath(config, name),
    has_keys: core.access.authenticate !== undefined,
  });
  const routes = ROUTES.map(
    (plugin) => (server: FastifyInstance, deps: RouteDeps) => plugin(server, { ...deps, ...services }),
  );
  const { page } = core.apps;
  return {
    routes: page === undefined ? routes : [...routes, (server) => deploymentPages(server, page)],
    dispatch,
    companion,
    [Symbol.asyncDispose]: () => companion.stop(0),
  };
}
