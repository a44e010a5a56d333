import type { Db } from '../../../db/db.ts';
import { deploymentRepository } from './deployment-repository.ts';
import { pushRepository } from './pushes.ts';
import { repositoryAccessRepository } from './repositories.ts';
import { revisionRepository } from './revisions.ts';

/** The repositories of its own tables, by noun. */
export function deploymentStorage(db: Db) {
  return {
    deployments: deploymentRepository(db),
    revisions: revisionRepository(db),
    pushes: pushRepository(db),
    repositoryAccess: repositoryAccessRepository(db),
  };
}

export type DeploymentStorage = ReturnType<typeof deploymentStorage>;
