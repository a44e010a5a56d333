import { type DeploymentDeps, deploymentService } from './control-plane.ts';
import { type DeploymentHealthDeps, deploymentHealthService } from './health.ts';
import { type HookDeps, hookService } from './hooks.ts';
import { deploymentLogService } from './logs.ts';
import { type RepositoryDeps, repositoryService } from './repositories.ts';
import { revisionExplain } from './revision-explain.ts';
import { revisionService } from './revisions.ts';
import { type UploadDeps, uploadService } from './uploads.ts';

type Deps = DeploymentDeps & DeploymentHealthDeps & HookDeps & RepositoryDeps & UploadDeps;

/** The services of the control plane, by name. */
export function deploymentServices(deps: Deps) {
  const deployments = deploymentService(deps);
  const deploymentRevisions = revisionService({ ...deps, service: deployments });
  const health = deploymentHealthService(deps);
  return {
    deployments,
    deploymentRevisions,
    deploymentHealth: health,
    revisionExplain: revisionExplain({ ...deps, service: deploymentRevisions, health }),
    deploymentLogs: deploymentLogService({ ...deps, revisions: deploymentRevisions }),
    deploymentUploads: uploadService(deps),
    deploymentHooks: hookService(deps),
    deploymentRepositories: repositoryService(deps),
  };
}
