import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { deploymentRepository } from '../../../src/extensions/deployments/storage/deployment-repository.ts';
import { revisionRepository } from '../../../src/extensions/deployments/storage/revisions.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { interleaved } from '../../support/interleaved-db.ts';

const CONFIG = { source: 'github', source_config: {}, source_revision_config: {} } as const;

function newRevision(canary_percent?: number) {
  const { source, source_revision_config } = CONFIG;
  const revision = { revision_id: randomUUID(), source, source_revision_config, trigger: 'api' } as const;
  return { ...revision, ...(canary_percent !== undefined && { canary_percent }) };
}

/** A deployment with a revision that serves, and a canary; the responses of the database to a commit can be lost. */
async function withCanary(database: Db) {
  const db = interleaved(database);
  const [deployments, revisions] = [deploymentRepository(db), revisionRepository(db)];
  await revisions.takeOver(randomUUID(), 3, { step: 'build', code: 'server_ended', hint: '' });
  const [deployment_id, first, canary] = [randomUUID(), newRevision(), newRevision(20)];
  const serve = async (revision_id: string, canary_percent: number | null) => {
    await revisions.claim();
    await revisions.transition(revision_id, ['AWAITING_BUILD'], 'DEPLOYING');
    return revisions.activate({ deployment_id, revision_id, canary_percent }, []);
  };
  await deployments.insert({ deployment_id, name: deployment_id, ...CONFIG }, [], first);
  expect(await serve(first.revision_id, null)).toBe('active');
  await revisions.insert(deployment_id, canary);
  expect(await serve(canary.revision_id, 20)).toBe('canary');
  return {
    ...{ deployment_id, revisions, first: first.revision_id, canary: canary.revision_id },
    async serving() {
      const row = await deployments.find(deployment_id);
      return { active: row?.active_revision_id, canary: row?.canary_revision_id };
    },
    statusOf: async (revision_id: string) => (await revisions.find(deployment_id, revision_id))?.status,
    /** The change is committed, and fails all the same. */
    async lost(change: () => Promise<boolean>): Promise<void> {
      db.pause('after commit').fail(new Error('The connection was lost.'));
      await expect(change()).rejects.toThrow('The connection was lost.');
    },
  };
}

describeEachDatabase('a switch whose commit was not acknowledged', (open) => {
  test('gives the same answer again: a promotion', async () => {
    await using db = await open();
    const { revisions, deployment_id, first, canary, serving, lost } = await withCanary(db);
    const promote = () => revisions.promote(deployment_id, canary);
    await lost(promote);
    expect(await serving()).toEqual({ active: canary, canary: null });
    expect(await promote()).toBe(true);
    expect(await serving()).toEqual({ active: canary, canary: null });
    expect(await revisions.promote(deployment_id, first)).toBe(false);
  });

  test('gives the same answer again: the end of a canary', async () => {
    await using db = await open();
    const { revisions, deployment_id, first, canary, serving, statusOf, lost } = await withCanary(db);
    const endCanary = () => revisions.endCanary(deployment_id, canary);
    await lost(endCanary);
    expect(await serving()).toEqual({ active: first, canary: null });
    expect(await endCanary()).toBe(true);
    expect(await statusOf(canary)).toBe('INTERRUPTED');
    expect(await revisions.promote(deployment_id, canary)).toBe(false);
    expect(await revisions.endCanary(deployment_id, first)).toBe(false);
    expect(await serving()).toEqual({ active: first, canary: null });
  });

  test('keeps a promoted canary from being ended', async () => {
    await using db = await open();
    const { revisions, deployment_id, canary, serving, lost } = await withCanary(db);
    await lost(() => revisions.promote(deployment_id, canary));
    expect(await revisions.endCanary(deployment_id, canary)).toBe(false);
    expect(await serving()).toEqual({ active: canary, canary: null });
  });
});
