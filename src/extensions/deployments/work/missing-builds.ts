import type { Ids } from '../../../core/ids.ts';
import type { Logger } from '../../../core/logger.ts';
import { OPEN_STATUSES } from '../storage/rows.ts';
import type { WorkDeps } from './work.ts';

export interface MissingBuildDeps extends Pick<WorkDeps, 'deployments' | 'revisions' | 'files'> {
  readonly ids: Ids;
  readonly logger: Logger;
}

/**
 * Runs before the queue starts: builds may be missing, as after a restore on another machine. Queues each serving
 * revision again with the same commit or upload, unless another revision of the deployment is already waiting.
 */
export async function rebuildMissing({
  deployments,
  revisions,
  files,
  ids,
  logger,
}: MissingBuildDeps): Promise<void> {
  for (const { deployment_id, name, active_revision_id } of await deployments.listAll()) {
    await revisions.forgetMissingBuilds(deployment_id, await files.buildIds(name));
    const active = active_revision_id && (await revisions.find(deployment_id, active_revision_id));
    if (!active || active.build_id !== null) continue;
    const statuses = OPEN_STATUSES;
    if ((await revisions.list(deployment_id, { statuses, limit: 1, offset: 0 })).length > 0) continue;
    const { source, source_revision_config } = active;
    const revision_id = ids.uuid7();
    await revisions.insert(deployment_id, { revision_id, source, source_revision_config, trigger: 'api' });
    logger.warn('the build of the serving revision is missing, building it again', {
      deployment: name,
      revision_id,
    });
  }
}
