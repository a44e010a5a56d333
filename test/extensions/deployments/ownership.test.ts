import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { Unavailable } from '../../../src/core/errors.ts';
import { number } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import { deploymentRepository } from '../../../src/extensions/deployments/storage/deployment-repository.ts';
import { revisionRepository } from '../../../src/extensions/deployments/storage/revisions.ts';
import { describeEachDatabase, describePostgresServer } from '../../support/databases.ts';
import { SHA } from '../../support/git-hooks.ts';
import { interleaved } from '../../support/interleaved-db.ts';
import { until } from '../../support/until.ts';

const FAILURE = { step: 'build', code: 'server_ended', hint: 'The server ended.' };
const MAX_TRIES = 3;
const CONFIG = { source: 'github', source_config: {}, source_revision_config: {} } as const;

/** A queued revision, and two processes: `old` owns the deployments and has claimed nothing yet. */
async function queued(database: Db) {
  const db = interleaved(database);
  const [deployment_id, revision_id] = [randomUUID(), randomUUID()];
  const [old, next] = [revisionRepository(db), revisionRepository(database)];
  await old.takeOver(randomUUID(), MAX_TRIES, FAILURE);
  const revision = { revision_id, source: 'github', source_revision_config: {}, trigger: 'api' } as const;
  await deploymentRepository(db).insert({ deployment_id, name: 'agent', ...CONFIG }, [], revision);
  const takeOver = () => next.takeOver(randomUUID(), MAX_TRIES, FAILURE);
  return { db, old, next, takeOver, deployment_id, revision_id };
}

describeEachDatabase('deployments that another process has taken over', (open) => {
  test('their previous owner changes nothing when it resumes', async () => {
    await using database = await open();
    const { old, next, takeOver, deployment_id, revision_id } = await queued(database);
    await old.claim();
    await old.transition(revision_id, ['AWAITING_BUILD'], 'BUILDING');
    await takeOver();
    await next.claim();
    await next.transition(revision_id, ['AWAITING_BUILD'], 'BUILDING');
    const found = () => next.find(deployment_id, revision_id);
    const before = await found();

    const built = { build_id: revision_id };
    const changes = [
      () => old.transition(revision_id, ['BUILDING'], 'AWAITING_DEPLOY', built),
      () => old.transition(revision_id, ['BUILDING'], 'BUILD_FAILED', { failure: FAILURE }),
      () => old.activate({ deployment_id, revision_id, canary_percent: null }, []),
      () => old.promote(deployment_id, revision_id),
      () => old.endCanary(deployment_id, revision_id),
      () => old.setSteps(revision_id, []),
      () => old.release(revision_id),
      () => old.recover(0, FAILURE),
      () => old.claim(),
      () => old.interruptAll(deployment_id),
      () => old.forgetBuilds(deployment_id, 1),
      () => old.forgetBuild(deployment_id, revision_id),
      () => old.forgetMissingBuilds(deployment_id, []),
    ];
    for (const change of changes) await expect(change()).rejects.toThrow(Unavailable);
    expect(await found()).toEqual(before);
    expect(await next.transition(revision_id, ['BUILDING'], 'AWAITING_DEPLOY', built)).toBe(true);
  });

  test('a claim that their previous owner had begun is refused', async () => {
    await using database = await open();
    const { db, old, next, takeOver, revision_id } = await queued(database);
    const pause = db.pause('before transaction');
    const claim = expect(old.claim()).rejects.toThrow(Unavailable);
    await pause.reached;
    await takeOver();
    pause.resume();
    await claim;
    expect(await next.claim()).toMatchObject({ revision_id, status: 'AWAITING_BUILD' });
  });

  test('a process that never took them over changes nothing', async () => {
    await using database = await open();
    const { revision_id } = await queued(database);
    const other = revisionRepository(database);
    await expect(other.claim()).rejects.toThrow(Unavailable);
    await expect(other.transition(revision_id, ['QUEUED'], 'INTERRUPTED')).rejects.toThrow(Unavailable);
  });
});

/** Resolves once a transaction waits for a lock of another one, or `work` has ended without. */
async function blocked(database: Db, work: Promise<unknown>): Promise<void> {
  let hasEnded = false;
  const ended = () => {
    hasEnded = true;
  };
  work.then(ended, ended);
  const waits = sql`select 1 as ${number('waits')} from pg_stat_activity
    where cardinality(pg_blocking_pids(pid)) > 0 and query ilike '%deployment_%'`;
  await until('it waits, or has not waited', async () => hasEnded || !!(await database.get(waits)));
}

describePostgresServer('deployments that two processes want at once', (open) => {
  test('a new owner requeues the revision that the previous one was just claiming', async () => {
    await using database = await open();
    const { db, old, next, takeOver, revision_id } = await queued(database);
    const pause = db.pause('statement', /update deployment_revisions/);
    const claim = old.claim();
    await pause.reached;
    const taken = takeOver();
    await blocked(database, taken);
    pause.resume();
    await Promise.all([claim, taken]);
    expect(await next.claim()).toMatchObject({ revision_id, status: 'AWAITING_BUILD' });
  });

  test('an interrupt while the commit of a build is stored is not overwritten', async () => {
    await using database = await open();
    const { db, old, deployment_id, revision_id } = await queued(database);
    await old.claim();
    await old.transition(revision_id, ['AWAITING_BUILD'], 'BUILDING');
    const pause = db.pause('statement', /from deployment_revisions/);
    const recorded = old.recordCommit(revision_id, SHA);
    await pause.reached;
    const interrupted = old.transition(revision_id, ['BUILDING'], 'INTERRUPTED');
    await blocked(database, interrupted);
    pause.resume();
    expect([await recorded, await interrupted]).toEqual(['recorded', true]);
    expect(await old.find(deployment_id, revision_id)).toMatchObject({ status: 'INTERRUPTED' });
  });

  test('a revision that is interrupted while it is claimed stays interrupted', async () => {
    await using database = await open();
    const { db, old, deployment_id, revision_id } = await queued(database);
    const pause = db.pause('statement', /update deployment_revisions/);
    const interrupted = old.transition(revision_id, ['QUEUED'], 'INTERRUPTED');
    await pause.reached;
    const claimed = old.claim();
    await blocked(database, claimed);
    pause.resume();
    expect([await interrupted, await claimed]).toEqual([true, undefined]);
    expect(await old.find(deployment_id, revision_id)).toMatchObject({ status: 'INTERRUPTED' });
  });
});
