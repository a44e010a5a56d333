import type { Transaction } from '../../db/db.ts';
import { FOR_UPDATE } from '../../db/row-locks.ts';
import { sql } from '../../db/sql.ts';
import { DEPLOYMENT, type DeploymentRow, parseDeployment } from './rows.ts';

/** Pushes, polls and the deletion of one deployment wait for each other here. */
export async function lockDeployment(
  tx: Transaction,
  deployment_id: string,
): Promise<DeploymentRow | undefined> {
  const row = await tx.get(
    sql`select ${DEPLOYMENT} from deployments where deployment_id = ${deployment_id} ${FOR_UPDATE}`,
  );
  return row && parseDeployment(row);
}
