import type { Logger } from '../../core/logger.ts';
import type { DeploymentRepository } from '../../storage/deployments/deployments.ts';
import type { DeploymentFiles } from '../../storage/deployments/files.ts';

export interface UnfinishedDeletionDeps {
  readonly deployments: Pick<DeploymentRepository, 'find'>;
  readonly files: Pick<DeploymentFiles, 'idsAside' | 'putBack' | 'remove'>;
  readonly logger: Logger;
}

/** Before the queue starts: a server that was killed within a deletion had deleted the deployment, or had not yet. */
export async function finishDeletions({ deployments, files, logger }: UnfinishedDeletionDeps): Promise<void> {
  for (const deployment_id of await files.idsAside()) {
    const row = await deployments.find(deployment_id);
    try {
      if (row) await files.putBack(deployment_id, row.name);
      else await files.remove(deployment_id);
    } catch (error) {
      logger.error('the files of a deployment are neither deleted nor back in their place', {
        deployment_id,
        error,
      });
    }
  }
}
