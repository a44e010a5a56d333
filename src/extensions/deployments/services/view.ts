import type { Deployment, DeploymentSecret, Revision } from '../schemas/deployments.ts';
import type { DeploymentRow, RevisionRow } from '../storage/rows.ts';
import { MASKED } from './secrets.ts';

/** The server has one tenant. */
const TENANT_ID = '00000000-0000-0000-0000-000000000000';

/** The deployment as the API returns it. `url`: where it is served. */
export function deploymentView(
  row: DeploymentRow,
  secrets: readonly DeploymentSecret[],
  url: string,
): Deployment {
  const { deployment_id: id, source_config, ...fields } = row;
  return {
    id,
    ...fields,
    source_config: { ...source_config, custom_url: url },
    secrets: secrets.map(({ name }) => ({ name, value: MASKED })),
    tenant_id: TENANT_ID,
    status: row.latest_revision_id === null ? 'UNUSED' : 'READY',
    image_version: null,
  };
}

export function revisionView(
  row: RevisionRow,
  { active_revision_id, canary_revision_id }: DeploymentRow,
): Revision {
  return {
    id: row.revision_id,
    number: row.number,
    deployment_id: row.deployment_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    status: row.status,
    source: row.source,
    source_revision_config: row.source_revision_config,
    trigger: row.triggered_by,
    commit: row.commit_info,
    failure: row.failure,
    build_steps: row.build_steps,
    isolation: row.built?.isolated ?? null,
    is_built: row.build_id !== null && row.built !== null,
    is_active: row.revision_id === active_revision_id,
    is_canary: row.revision_id === canary_revision_id,
    canary_percent: row.canary_percent,
  };
}
