import type { Logger } from '../../../core/logger.ts';
import type { DeploymentRepository } from '../storage/deployment-repository.ts';
import type { DeploymentFiles } from '../storage/files.ts';

export interface UnfinishedDeletionDeps {
  readonly deployments: DeploymentRepository;
  readonly files: Pick<DeploymentFiles, 'idsAside' | 'putBack' | 'remove'>;
  readonly logger: Logger;
}

/**
 * Runs before the queue starts: completes or undoes a deletion during which the server was killed, depending on whether
 * the deployment was already deleted.
 */
export async function finishDeletions({ deployments, files, logger }: UnfinishedDeletionDeps): Promise<void> {
  for (const deployment_id of await files.idsAside()) {
    const row = await deployments.find(deployment_id);
    try {
      if (row) await files.putBack(deployment_id, row.name);
      else await files.remove(deployment_id);
    } catch (error) {
      logger.error('cannot delete the files of a deployment, nor move them back', {
        deployment_id,
        error,
      });
    }
  }
}
