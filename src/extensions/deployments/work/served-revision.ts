import type { DeploymentSecret } from '../schemas/deployments.ts';
import type { ServedRevision } from '../services/plane.ts';
import type { DeploymentRepository } from '../storage/deployment-repository.ts';
import type { DeploymentFiles } from '../storage/files.ts';
import type { RevisionRepository } from '../storage/revisions.ts';
import type { DeploymentRow, RevisionRow } from '../storage/rows.ts';

export interface ServedRevisionDeps {
  readonly deployments: DeploymentRepository;
  readonly revisions: RevisionRepository;
  readonly files: Pick<DeploymentFiles, 'build'>;
}

type Named = Pick<DeploymentRow, 'deployment_id' | 'name'>;

/** What the data plane needs of a built revision, with the current secrets. `undefined` if its build is not kept. */
export async function servedRevision(
  { deployments, revisions, files }: ServedRevisionDeps,
  deployment: Named,
  revision_id: string | null,
): Promise<ServedRevision | undefined> {
  if (revision_id === null) return undefined;
  const row = await revisions.find(deployment.deployment_id, revision_id);
  if (!row) return undefined;
  return served(deployment, row, { secrets: await deployments.secrets(deployment.deployment_id), files });
}

/** The same for all deployed revisions whose builds are kept, newest first. */
export async function builtRevisions(
  { deployments, revisions, files }: ServedRevisionDeps & { revisions: RevisionRepository },
  deployment: Named,
): Promise<ServedRevision[]> {
  const { deployment_id } = deployment;
  const rows = await revisions.listBuilt(deployment_id);
  const secrets = await deployments.secrets(deployment_id);
  return rows.flatMap((row) => served(deployment, row, { secrets, files }) ?? []);
}

function served(
  { deployment_id, name }: Named,
  { revision_id, build_id, built, canary_percent }: RevisionRow,
  { secrets, files }: { secrets: readonly DeploymentSecret[]; files: ServedRevisionDeps['files'] },
): ServedRevision | undefined {
  if (build_id === null || built === null) return undefined;
  return {
    ...{ deployment_id, name, revision_id },
    folder: files.build(name, build_id),
    built,
    was_checked: build_id !== revision_id,
    canary_percent,
    secrets: Object.fromEntries(secrets.map((secret) => [secret.name, secret.value])),
  };
}
