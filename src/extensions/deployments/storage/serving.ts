import { columns } from '../../../db/columns.ts';
import type { Transaction } from '../../../db/db.ts';
import { sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import type { BuildStep } from '../schemas/deployments.ts';
import { changeStatus } from './change-status.ts';
import type { Ownership } from './ownership.ts';
import type { DeploymentRow, RevisionRow } from './rows.ts';
import { lockDeployment } from './rows.ts';

type ActivatedRevision = Pick<RevisionRow, 'deployment_id' | 'revision_id' | 'canary_percent'>;

/**
 * Makes a revision the active one, which ends a canary; or the canary, if it has a share and another revision serves.
 * Returns `undefined`, with nothing changed, if the revision is no longer `DEPLOYING`. Idempotent: an error may hide a
 * commit.
 */
export function activate(
  owner: Ownership,
  { deployment_id, revision_id, canary_percent }: ActivatedRevision,
  build_steps: readonly BuildStep[],
): Promise<'active' | 'canary' | undefined> {
  return owner.transaction(async (tx) => {
    const deployment = await lockDeployment(tx, deployment_id);
    if (!deployment) return undefined;
    if (!(await changeStatus(tx, revision_id, ['DEPLOYING'], 'DEPLOYED', { build_steps })))
      return roleIn(deployment, revision_id);
    const { active_revision_id } = deployment;
    const isCanary = canary_percent !== null && active_revision_id !== null;
    await interruptCanary(tx, deployment);
    await setServing(
      tx,
      deployment_id,
      isCanary ? { active: active_revision_id, canary: revision_id } : { active: revision_id, canary: null },
    );
    return isCanary ? 'canary' : 'active';
  });
}

function roleIn(
  { active_revision_id, canary_revision_id }: DeploymentRow,
  revision_id: string,
): 'active' | 'canary' | undefined {
  if (active_revision_id === revision_id) return 'active';
  return canary_revision_id === revision_id ? 'canary' : undefined;
}

/**
 * Promotes the canary to the active revision. Returns false if it is no longer the canary. Idempotent: an error may
 * hide a commit.
 */
export function promote(owner: Ownership, deployment_id: string, revision_id: string): Promise<boolean> {
  return owner.transaction(async (tx) => {
    const deployment = await lockDeployment(tx, deployment_id);
    if (deployment?.canary_revision_id !== revision_id) return deployment?.active_revision_id === revision_id;
    await setServing(tx, deployment_id, { active: revision_id, canary: null });
    return true;
  });
}

/**
 * Ends the canary, which becomes `INTERRUPTED`. Returns false if it is neither the canary nor one that was interrupted.
 * Idempotent: an error may hide a commit.
 */
export function endCanary(owner: Ownership, deployment_id: string, revision_id: string): Promise<boolean> {
  return owner.transaction(async (tx) => {
    const deployment = await lockDeployment(tx, deployment_id);
    if (deployment?.canary_revision_id !== revision_id) return isInterrupted(tx, deployment_id, revision_id);
    await interruptCanary(tx, deployment);
    await setServing(tx, deployment_id, { active: deployment.active_revision_id, canary: null });
    return true;
  });
}

/** It served, but was never promoted: a rollback must not treat it as the previous revision. */
async function interruptCanary(tx: Transaction, { canary_revision_id }: DeploymentRow): Promise<void> {
  if (canary_revision_id !== null)
    await changeStatus(tx, canary_revision_id, ['DEPLOYED'], 'INTERRUPTED', {});
}

const STATUS = columns('deployment_revisions', 'status');

async function isInterrupted(tx: Transaction, deployment_id: string, revision_id: string): Promise<boolean> {
  const row = await tx.get(sql`
    select ${STATUS} from deployment_revisions
    where deployment_id = ${deployment_id} and revision_id = ${revision_id}`);
  return row?.status === 'INTERRUPTED';
}

async function setServing(
  tx: Transaction,
  deployment_id: string,
  { active, canary }: { active: string | null; canary: string | null },
): Promise<void> {
  await tx.run(sql`
    update deployments set active_revision_id = ${active}, canary_revision_id = ${canary}, updated_at = ${NOW}
    where deployment_id = ${deployment_id}`);
}
