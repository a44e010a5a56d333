import type { Rows } from '../../../db/column-types.ts';
import { columns } from '../../../db/columns.ts';
import type { Transaction } from '../../../db/db.ts';
import { type Parsed, parseJsonColumns } from '../../../db/json.ts';
import { FOR_UPDATE, raw, type Sql, sql } from '../../../db/sql.ts';
import type { RevisionStatus } from '../schemas/deployments.ts';

export type DeploymentRow = Parsed<Rows['deployments'], 'source_config' | 'source_revision_config'>;

export type RevisionRow = Parsed<
  Rows['deployment_revisions'],
  'source_revision_config' | 'built' | 'commit_info' | 'failure' | 'build_steps'
>;

export const DEPLOYMENT = columns(
  'deployments',
  'deployment_id, name, source, source_config, source_revision_config, created_at, updated_at, latest_revision_id, active_revision_id, canary_revision_id',
);

export const REVISION = columns(
  'deployment_revisions',
  'revision_id, deployment_id, number, status, source, source_revision_config, triggered_by, build_id, built, commit_info, failure, build_steps, tries, canary_percent, created_at, updated_at',
);

export type HookRow = Rows['deployment_hooks'];

export type RepositoryRow = Parsed<Rows['deployment_repositories'], 'poll_failure'>;

export const HOOK = columns(
  'deployment_hooks',
  'hook_id, deployment_id, kind, delivery_id, event, ref, sha, outcome, reason, revision_id, received_at',
);

export const REPOSITORY = columns(
  'deployment_repositories',
  'deployment_id, hook_secret, hook_secret_at, deploy_key, public_key, deploy_key_at, token, token_username, token_host, token_at, known_hosts, polled_at, polled_sha, poll_failure',
);

export function parseRepository(row: Rows['deployment_repositories']): RepositoryRow {
  return parseJsonColumns(row, ['poll_failure']);
}

export function parseDeployment(row: Rows['deployments']): DeploymentRow {
  return parseJsonColumns(row, ['source_config', 'source_revision_config']);
}

export function parseRevision(row: Rows['deployment_revisions']): RevisionRow {
  return parseJsonColumns(row, ['source_revision_config', 'built', 'commit_info', 'failure', 'build_steps']);
}

/** Statuses of unfinished revisions, as in the partial index. */
export const OPEN_STATUSES = [
  'CREATING',
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
] as const satisfies readonly RevisionStatus[];

/** Spelled out as literals: only then is the partial index used. */
export const IS_OPEN: Sql = raw(`status in (${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})`);

/** Row lock that serializes changes, pushes, polls and the deletion of a deployment. */
export async function lockDeployment(
  tx: Transaction,
  deployment_id: string,
): Promise<DeploymentRow | undefined> {
  const row = await tx.get(
    sql`select ${DEPLOYMENT} from deployments where deployment_id = ${deployment_id} ${FOR_UPDATE}`,
  );
  return row && parseDeployment(row);
}
