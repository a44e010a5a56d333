import type { DeploymentRow } from '../../storage/deployments/rows.ts';
import type { WorkDeps } from './work.ts';

/** Deletes builds and uploads that are no longer needed, and everything of a deployment that was deleted meanwhile. */
export async function cleanUp(
  { deployment_id, name }: DeploymentRow,
  { deployments, revisions, files, rules, clock }: WorkDeps,
): Promise<void> {
  const row = await deployments.find(deployment_id);
  if (!row) {
    const successor = await deployments.findByName(name);
    if (!successor) await files.remove(deployment_id, name);
    return;
  }
  const build_ids = await revisions.forgetBuilds(deployment_id, rules.keep);
  await files.keepBuilds(name, build_ids);
  const { source_tarball_path } = row.source_revision_config;
  await files.keepUpload(deployment_id, source_tarball_path ?? undefined, clock.now());
}
