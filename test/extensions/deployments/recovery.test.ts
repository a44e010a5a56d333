import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import { deploymentRepository } from '../../../src/extensions/deployments/storage/deployment-repository.ts';
import { revisionRepository } from '../../../src/extensions/deployments/storage/revisions.ts';
import { OPEN_STATUSES } from '../../../src/extensions/deployments/storage/rows.ts';
import { describeEachDatabase } from '../../support/databases.ts';

const FAILURE = { step: 'build', code: 'server_ended', hint: 'The server ended.' };
const MAX_TRIES = 3;
const CONFIG = { source: 'github', source_config: {}, source_revision_config: {} } as const;

/** A deployment with a revision that a killed server left in that status, after so many tries. */
async function left(db: Db, status: string, { tries = 1, build = false } = {}) {
  const [deployment_id, revision_id] = [randomUUID(), randomUUID()];
  const revisions = revisionRepository(db);
  const revision = {
    revision_id,
    source: CONFIG.source,
    source_revision_config: {},
    trigger: 'api',
  } as const;
  await deploymentRepository(db).insert({ deployment_id, name: revision_id, ...CONFIG }, [], revision);
  await db.run(sql`update deployment_revisions set status = ${status}, tries = ${tries},
    build_id = ${build ? revision_id : null} where revision_id = ${revision_id}`);
  return {
    deployment_id,
    revisions,
    again: { ...revision, revision_id: randomUUID() },
    found: async () => revisions.find(deployment_id, revision_id),
  };
}

describeEachDatabase('revisions that a killed server has left', (open) => {
  test.for(OPEN_STATUSES)('are queued again if they were %s', async (status) => {
    await using db = await open();
    const { revisions, found } = await left(db, status);
    await revisions.takeOver(randomUUID(), MAX_TRIES, FAILURE);
    expect((await found())?.status).toBe('QUEUED');
    expect(await revisions.claim()).toMatchObject({ status: 'AWAITING_BUILD' });
  });

  test.for([
    ['BUILDING', false, 'BUILD_FAILED'],
    ['DEPLOYING', true, 'DEPLOY_FAILED'],
  ] as const)('fail with the reason if they were %s in their last attempt', async ([status, build, end]) => {
    await using db = await open();
    const { revisions, found } = await left(db, status, { tries: MAX_TRIES, build });
    await revisions.takeOver(randomUUID(), MAX_TRIES, FAILURE);
    expect(await found()).toMatchObject({ status: end, failure: FAILURE });
    expect(await revisions.claim()).toBeUndefined();
  });

  test('are skipped if a newer one waits', async () => {
    await using db = await open();
    const { deployment_id, revisions, again, found } = await left(db, 'BUILDING');
    await revisions.insert(deployment_id, again);
    await revisions.takeOver(randomUUID(), MAX_TRIES, FAILURE);
    expect((await found())?.status).toBe('SKIPPED');
    expect(await revisions.claim()).toMatchObject({ revision_id: again.revision_id });
  });
});
