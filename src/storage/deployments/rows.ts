import type { Rows } from '../../db/column-types.ts';
import { columns } from '../../db/columns.ts';
import { type Parsed, parseJsonColumns } from '../../db/json.ts';
import { raw, type Sql } from '../../db/sql.ts';
import type { RevisionStatus } from '../../schemas/deployments.ts';

export type DeploymentRow = Parsed<Rows['deployments'], 'source_config' | 'source_revision_config'>;

export type RevisionRow = Parsed<
  Rows['deployment_revisions'],
  'source_revision_config' | 'built' | 'commit_info' | 'failure' | 'build_steps'
>;

export const DEPLOYMENT = columns(
  'deployments',
  'deployment_id, name, source, source_config, source_revision_config, created_at, updated_at, latest_revision_id, active_revision_id',
);

export const REVISION = columns(
  'deployment_revisions',
  'revision_id, deployment_id, number, status, source, source_revision_config, triggered_by, build_id, built, commit_info, failure, build_steps, tries, created_at, updated_at',
);

export function parseDeployment(row: Rows['deployments']): DeploymentRow {
  return parseJsonColumns(row, ['source_config', 'source_revision_config']);
}

export function parseRevision(row: Rows['deployment_revisions']): RevisionRow {
  return parseJsonColumns(row, ['source_revision_config', 'built', 'commit_info', 'failure', 'build_steps']);
}

/** Revisions that the queue has not finished, as the partial index has them. */
export const OPEN_STATUSES = [
  'CREATING',
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
] as const satisfies readonly RevisionStatus[];

/** Written out: only then the partial index is used. */
export const IS_OPEN: Sql = raw(`status in (${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})`);
