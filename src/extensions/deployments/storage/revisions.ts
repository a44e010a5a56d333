import { toJson } from '../../../core/json.ts';
import { bind } from '../../../db/bind.ts';
import { columns, nullable, number } from '../../../db/columns.ts';
import type { Db, Transaction } from '../../../db/db.ts';
import { and, FOR_UPDATE, list, sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import type {
  BuildStep,
  DeploymentSource,
  RevisionFailure,
  RevisionStatus,
  RevisionTrigger,
  SourceRevisionConfig,
} from '../schemas/deployments.ts';
import { changeStatus, type RevisionChange } from './change-status.ts';
import { type Ownership, ownership } from './ownership.ts';
import { recordCommit } from './record-commit.ts';
import { IS_OPEN, lockDeployment, parseRevision, REVISION, type RevisionRow } from './rows.ts';
import { activate, endCanary, promote } from './serving.ts';
import { storedBuilds } from './stored-builds.ts';

export interface NewRevision {
  readonly revision_id: string;
  readonly source: DeploymentSource;
  readonly source_revision_config: SourceRevisionConfig;
  readonly trigger: RevisionTrigger;
  /** Build of an earlier revision, to be deployed again without a new build. */
  readonly build?: Pick<RevisionRow, 'build_id' | 'built' | 'commit_info'> | undefined;
  /** Share of new threads that a canary receives, percent. */
  readonly canary_percent?: number | null | undefined;
}

export interface RevisionFilter {
  readonly statuses?: readonly RevisionStatus[] | undefined;
  readonly limit: number;
  readonly offset: number;
}

export type RevisionRepository = ReturnType<typeof revisionRepository>;

const AHEAD = number('ahead');

/**
 * Revisions and their queue. Every status change is conditional on the previous status, and all but `insert` on this
 * process owning the deployments: it throws `Unavailable` before `takeOver`, and after that of another process.
 */
export function revisionRepository(db: Db) {
  const owner = ownership(db);
  return {
    ...bind(db, { insert: enqueue, find, deploymentOf, countAhead, list: listRevisions }),
    ...bind(owner, { takeOver, claim, transition, interruptAll, release, setSteps, recover }),
    ...bind(owner, { activate, promote, endCanary, recordCommit }),
    ...storedBuilds(db, owner),
  };
}

/**
 * Makes this process the owner, and requeues what an earlier process left unfinished; see `recover`.
 * `token`: a fresh fencing token.
 */
function takeOver(
  owner: Ownership,
  token: string,
  max_tries: number,
  failure: RevisionFailure,
): Promise<void> {
  return owner.take(token, (tx) => requeueUnfinished(tx, max_tries, failure));
}

/** Queues a revision; older queued ones of the deployment become `SKIPPED`. */
function enqueue(db: Db, deployment_id: string, revision: NewRevision): Promise<RevisionRow> {
  return db.transaction('sync', async (tx) => {
    await lockDeployment(tx, deployment_id);
    return insertRevision(tx, deployment_id, revision);
  });
}

async function find(db: Db, deployment_id: string, revision_id: string): Promise<RevisionRow | undefined> {
  const row = await db.get(sql`
    select ${REVISION} from deployment_revisions
    where deployment_id = ${deployment_id} and revision_id = ${revision_id}`);
  return row && parseRevision(row);
}

/** Id of its deployment; `undefined` if the revision does not exist. */
async function deploymentOf(db: Db, revision_id: string): Promise<string | undefined> {
  const row = await db.get(sql`
    select ${columns('deployment_revisions', 'deployment_id')} from deployment_revisions
    where revision_id = ${revision_id}`);
  return row?.deployment_id;
}

/** How many revisions of all deployments are in progress or ahead in the queue of a `QUEUED` one. */
async function countAhead(db: Db, { created_at, revision_id }: RevisionRow): Promise<number> {
  const row = await db.get(sql`
    select count(*) as ${AHEAD} from deployment_revisions
    where ${IS_OPEN} and (status <> 'QUEUED' or (created_at, revision_id) < (${created_at}, ${revision_id}))`);
  return row?.ahead ?? 0;
}

/** Newest first. */
async function listRevisions(db: Db, deployment_id: string, filter: RevisionFilter): Promise<RevisionRow[]> {
  const { statuses, limit, offset } = filter;
  const rows = await db.all(sql`
    select ${REVISION} from deployment_revisions
    where ${and([
      sql`deployment_id = ${deployment_id}`,
      statuses === undefined ? undefined : sql`status in ${list(statuses)}`,
    ])}
    order by number desc limit ${limit} offset ${offset}`);
  return rows.map(parseRevision);
}

/** Claims the oldest waiting revision, now `AWAITING_BUILD`, or `AWAITING_DEPLOY` if it is already built. */
function claim(owner: Ownership): Promise<RevisionRow | undefined> {
  return owner.transaction(async (tx) => {
    const row = await tx.get(sql`
      update deployment_revisions
      set status = case when build_id is null then 'AWAITING_BUILD' else 'AWAITING_DEPLOY' end,
        tries = tries + 1, updated_at = ${NOW}
      where revision_id = (
        select revision_id from deployment_revisions
        where ${IS_OPEN} and status = 'QUEUED' order by created_at, revision_id limit 1 ${FOR_UPDATE})
      returning ${REVISION}`);
    return row && parseRevision(row);
  });
}

/** Returns false, with nothing changed, if the status has changed or the revision was deleted. */
function transition(
  owner: Ownership,
  revision_id: string,
  from: readonly RevisionStatus[],
  to: RevisionStatus,
  change: RevisionChange = {},
): Promise<boolean> {
  return owner.transaction((tx) => changeStatus(tx, revision_id, from, to, change));
}

/** Interrupts all unfinished revisions of a deployment. Returns their ids. */
function interruptAll(owner: Ownership, deployment_id: string): Promise<string[]> {
  return owner.transaction(async (tx) => {
    const rows = await tx.all(sql`
      update deployment_revisions set status = 'INTERRUPTED', updated_at = ${NOW}
      where deployment_id = ${deployment_id} and ${IS_OPEN}
      returning ${columns('deployment_revisions', 'revision_id')}`);
    return rows.map(({ revision_id }) => revision_id);
  });
}

/** At shutdown: requeues the revision without counting the attempt. */
function release(owner: Ownership, revision_id: string): Promise<void> {
  return owner.transaction(async (tx) => {
    await tx.run(sql`
      update deployment_revisions set status = 'QUEUED', tries = tries - 1, updated_at = ${NOW}
      where revision_id = ${revision_id} and ${IS_OPEN}`);
  });
}

/** Progress of a build. */
function setSteps(owner: Ownership, revision_id: string, steps: readonly BuildStep[]): Promise<void> {
  return owner.transaction(async (tx) => {
    await tx.run(sql`
      update deployment_revisions set build_steps = ${toJson(steps)} where revision_id = ${revision_id}`);
  });
}

/**
 * Requeues what a storage failure left unfinished, while this process works on nothing. After `max_tries` the
 * revision fails: it may be the cause.
 */
function recover(owner: Ownership, max_tries: number, failure: RevisionFailure): Promise<void> {
  return owner.transaction((tx) => requeueUnfinished(tx, max_tries, failure));
}

async function requeueUnfinished(
  tx: Transaction,
  max_tries: number,
  failure: RevisionFailure,
): Promise<void> {
  const isUnfinished = sql`${IS_OPEN} and status <> 'QUEUED'`;
  await tx.run(sql`
    update deployment_revisions set status = case when build_id is null then 'BUILD_FAILED' else 'DEPLOY_FAILED' end,
      failure = ${toJson(failure)}, updated_at = ${NOW}
    where ${isUnfinished} and tries >= ${max_tries}`);
  const newer = sql`select 1 from deployment_revisions newer
    where newer.deployment_id = deployment_revisions.deployment_id
      and newer.number > deployment_revisions.number and newer.status = 'QUEUED'`;
  await tx.run(sql`
    update deployment_revisions
    set status = case when exists (${newer}) then 'SKIPPED' else 'QUEUED' end, updated_at = ${NOW}
    where ${isUnfinished}`);
}

/** Part of a transaction that has locked or inserted the deployment's row: revisions are numbered. */
export async function insertRevision(
  tx: Transaction,
  deployment_id: string,
  { revision_id, source, source_revision_config, trigger, build, canary_percent = null }: NewRevision,
): Promise<RevisionRow> {
  await tx.run(sql`update deployment_revisions set status = 'SKIPPED', updated_at = ${NOW}
    where deployment_id = ${deployment_id} and status in ('CREATING', 'QUEUED')`);
  const last = await tx.get(sql`
    select max(number) as ${nullable(number('number'))} from deployment_revisions
    where deployment_id = ${deployment_id}`);
  const json = (value: unknown) => (value == null ? null : toJson(value));
  const row = await tx.get(sql`
    insert into deployment_revisions (revision_id, deployment_id, number, status, source, source_revision_config,
      triggered_by, build_id, built, commit_info, canary_percent, build_steps, created_at, updated_at)
    values (${revision_id}, ${deployment_id}, ${(last?.number ?? 0) + 1}, 'QUEUED', ${source},
      ${toJson(source_revision_config)}, ${trigger}, ${build?.build_id ?? null}, ${json(build?.built)},
      ${json(build?.commit_info)}, ${canary_percent}, '[]', ${NOW}, ${NOW})
    returning ${REVISION}`);
  await tx.run(sql`update deployments set latest_revision_id = ${revision_id}, updated_at = ${NOW}
    where deployment_id = ${deployment_id}`);
  if (!row) throw new Error('an insert returned no row');
  return parseRevision(row);
}
