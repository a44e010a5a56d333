import { basename } from 'node:path';
import type { DeploymentRow } from '../storage/rows.ts';
import { makeRoom } from './disk-quota.ts';
import type { WorkDeps } from './work.ts';

/** Revisions per deployment whose logs are kept, besides those whose code may still run. */
const LOG_RETENTION_COUNT = 20;

/**
 * Deletes builds, logs and uploads that are no longer needed, and all files of deployments that were deleted meanwhile.
 */
export async function cleanUp({ deployment_id, name }: DeploymentRow, deps: WorkDeps): Promise<void> {
  const { deployments, revisions, files, plane, rules, clock } = deps;
  const row = await deployments.find(deployment_id);
  if (!row) {
    // Files set aside by the deletion may still exist, and block what was created since.
    await files.remove(deployment_id);
    if (await deployments.findByName(name)) return;
    await files.setAside(deployment_id, name);
    await files.remove(deployment_id);
    return;
  }
  const stored = await revisions.forgetBuilds(deployment_id, rules.keep);
  const inUse = plane.foldersInUse();
  for (const id of await files.buildIds(name)) {
    if (!stored.includes(id) && !inUse.has(files.build(name, id))) await files.removeBuild(name, id);
  }
  const serving = [row.active_revision_id, row.canary_revision_id].filter((id) => id !== null);
  const running = [...inUse].map((folder) => basename(folder));
  await files.keepLogs(name, LOG_RETENTION_COUNT, new Set([...serving, ...stored, ...running]));
  await makeRoom(name, deps);
  // Builds get lost, and are not in a backup. What serves is built again, and a rollback may let any of these serve.
  const active = row.active_revision_id && (await revisions.find(deployment_id, row.active_revision_id));
  const sources = [row, ...(active ? [active] : []), ...(await revisions.listBuilt(deployment_id))];
  const uploads = sources.flatMap((source) => source.source_revision_config.source_tarball_path ?? []);
  await files.keepUploads(deployment_id, uploads, clock.now());
}
