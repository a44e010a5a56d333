import type { ServedRevision } from '../../services/deployments/data-plane.ts';
import type { DeploymentRepository } from '../../storage/deployments/deployments.ts';
import type { DeploymentFiles } from '../../storage/deployments/files.ts';
import type { RevisionRepository } from '../../storage/deployments/revisions.ts';
import type { DeploymentRow } from '../../storage/deployments/rows.ts';

export interface ServedRevisionDeps {
  readonly deployments: Pick<DeploymentRepository, 'secrets'>;
  readonly revisions: Pick<RevisionRepository, 'find'>;
  readonly files: Pick<DeploymentFiles, 'build'>;
}

/** What the data plane needs of a built revision, with the secrets of now. `undefined` if its build is not kept. */
export async function servedRevision(
  { deployments, revisions, files }: ServedRevisionDeps,
  { deployment_id, name }: Pick<DeploymentRow, 'deployment_id' | 'name'>,
  revision_id: string | null,
): Promise<ServedRevision | undefined> {
  if (revision_id === null) return undefined;
  const row = await revisions.find(deployment_id, revision_id);
  if (!row || row.build_id === null || row.built === null) return undefined;
  const secrets = await deployments.secrets(deployment_id);
  return {
    ...{ deployment_id, name, revision_id },
    folder: files.build(name, row.build_id),
    built: row.built,
    was_checked: row.build_id !== revision_id,
    canary_percent: row.canary_percent,
    secrets: Object.fromEntries(secrets.map((secret) => [secret.name, secret.value])),
  };
}
