import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { sql } from '../../../src/db/sql.ts';
import { deploymentRepository } from '../../../src/extensions/deployments/storage/deployment-repository.ts';
import { revisionRepository } from '../../../src/extensions/deployments/storage/revisions.ts';
import { describeEachDatabase } from '../../support/databases.ts';

const CONFIG = { source: 'github', source_revision_config: {} } as const;

describeEachDatabase('the retention of builds', (open) => {
  test('does not count failed revisions against those that served', async () => {
    await using db = await open();
    const deployment_id = randomUUID();
    const revisions = revisionRepository(db);
    await revisions.takeOver(randomUUID(), 3, { step: 'build', code: 'server_ended', hint: '' });
    const row = { deployment_id, name: 'agent', source_config: {}, ...CONFIG };
    await deploymentRepository(db).insert(row, [], undefined);
    const ids: string[] = [];
    for (const status of ['DEPLOYED', 'DEPLOYED', 'DEPLOYED', 'DEPLOY_FAILED', 'DEPLOY_FAILED']) {
      const revision_id = randomUUID();
      ids.push(revision_id);
      await revisions.insert(deployment_id, { revision_id, trigger: 'api', ...CONFIG });
      await db.run(sql`update deployment_revisions set status = ${status}, build_id = ${revision_id}
        where revision_id = ${revision_id}`);
    }
    const [oldest, before, active, , newest] = ids as [string, string, string, string, string];
    await db.run(sql`update deployments set active_revision_id = ${active}`);

    expect((await revisions.forgetBuilds(deployment_id, 4)).sort()).toEqual(
      [oldest, before, active, newest].sort(),
    );
    expect((await revisions.forgetBuilds(deployment_id, 2)).sort()).toEqual([before, active].sort());
  });
});
