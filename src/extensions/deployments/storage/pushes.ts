import { toJson } from '../../../core/json.ts';
import { bind } from '../../../db/bind.ts';
import { columns, number } from '../../../db/columns.ts';
import type { Db, Reader, Transaction } from '../../../db/db.ts';
import { sql } from '../../../db/sql.ts';
import { NOW } from '../../../db/time.ts';
import type { RevisionFailure } from '../schemas/deployments.ts';
import type { DeploymentHookQuery, HookKind } from '../schemas/hooks.ts';
import { insertRevision, type NewRevision } from './revisions.ts';
import {
  type DeploymentRow,
  HOOK,
  type HookRow,
  IS_OPEN,
  lockDeployment,
  parseRevision,
  REVISION,
  type RevisionRow,
} from './rows.ts';

/** Number of newest hooks kept per deployment. */
const MAX_HOOKS = 100;

export interface NewHook {
  readonly hook_id: string;
  readonly kind: HookKind;
  /** `null` if the service sent none: each delivery then counts as new. */
  readonly delivery_id: string | null;
  readonly event: string;
  readonly ref: string | null;
  readonly sha: string | null;
}

/** Locked rows that decide a push. */
export interface PushState {
  readonly deployment: DeploymentRow;
  /** The newest revision of the deployment. */
  readonly newest: RevisionRow | undefined;
}

export interface PollState {
  readonly deployment: DeploymentRow;
  /** Whether a revision of the found commit exists, with whatever result. */
  readonly has_revision: boolean;
  /** Whether an unfinished revision exists whose commit is not known yet. */
  readonly is_building_branch: boolean;
  /** Whether the previous poll that was decided found the same commit. */
  readonly was_found: boolean;
}

export type PushDecision =
  | { readonly outcome: 'queued'; readonly revision: NewRevision; readonly pushed: PushedCommit }
  | {
      readonly outcome: 'known';
      readonly revision_id: string;
      readonly reason: string;
      readonly pushed: PushedCommit;
    }
  | { readonly outcome: 'ignored'; readonly reason: string };

/** Index of the ref, among those the hook reports. */
export interface PushedCommit {
  readonly ref?: string | undefined;
  readonly sha?: string | undefined;
}

export type PushRepository = ReturnType<typeof pushRepository>;

/**
 * Pushes reported by hooks or found by polling. `decide` may be called more than once and must have no side effects.
 */
export function pushRepository(db: Db) {
  return bind(db, { receive, poll, pollFailed, listHooks });
}

/**
 * Stores a hook with the decision of `decide`, in one transaction with the revision. A repeated delivery returns
 * the stored one: `is_new` is false. Returns `undefined` if the deployment does not exist.
 */
function receive(
  db: Db,
  deployment_id: string,
  hook: NewHook,
  decide: (state: PushState) => PushDecision,
): Promise<{ hook: HookRow; is_new: boolean } | undefined> {
  return db.transaction('sync', async (tx) => {
    const deployment = await lockDeployment(tx, deployment_id);
    if (!deployment) return undefined;
    const before = await findDelivery(tx, deployment_id, hook);
    if (before) return { hook: before, is_new: false };
    const decision = decide({ deployment, newest: await newestRevision(tx, deployment_id) });
    if (decision.outcome === 'queued') await insertRevision(tx, deployment_id, decision.revision);
    const stored = await insertHook(tx, deployment_id, hook, decision);
    await deleteOldHooks(tx, deployment_id);
    return { hook: stored, is_new: true };
  });
}

/**
 * Stores a poll result, and queues the revision that `decide` returns. Returns the id of the revision, if any. The
 * commit is stored once it has a revision.
 */
function poll(
  db: Db,
  deployment_id: string,
  sha: string,
  decide: (state: PollState) => NewRevision | undefined,
): Promise<string | undefined> {
  return db.transaction('sync', async (tx) => {
    const deployment = await lockDeployment(tx, deployment_id);
    if (!deployment) return undefined;
    const state = await revisionsOf(tx, deployment_id, sha);
    const before = await tx.get(sql`
      select ${columns('deployment_repositories', 'polled_sha')} from deployment_repositories
      where deployment_id = ${deployment_id}`);
    const revision = decide({ deployment, ...state, was_found: before?.polled_sha === sha });
    if (revision) await insertRevision(tx, deployment_id, revision);
    const decided_sha = revision || state.has_revision ? sha : (before?.polled_sha ?? null);
    await tx.run(sql`
      insert into deployment_repositories (deployment_id, polled_at, polled_sha)
      values (${deployment_id}, ${NOW}, ${decided_sha})
      on conflict (deployment_id) do update
      set polled_at = ${NOW}, polled_sha = excluded.polled_sha, poll_failure = null`);
    return revision?.revision_id;
  });
}

/** Stores why polling failed. Returns false if the previous poll failed the same way, or the deployment does not exist. */
function pollFailed(db: Db, deployment_id: string, failure: RevisionFailure): Promise<boolean> {
  return db.transaction('sync', async (tx) => {
    if (!(await lockDeployment(tx, deployment_id))) return false;
    const before = await tx.get(sql`
      select ${columns('deployment_repositories', 'poll_failure')} from deployment_repositories
      where deployment_id = ${deployment_id} and poll_failure ->> 'code' = ${failure.code}`);
    await tx.run(sql`
      insert into deployment_repositories (deployment_id, polled_at, poll_failure)
      values (${deployment_id}, ${NOW}, ${toJson(failure)})
      on conflict (deployment_id) do update
      set polled_at = ${NOW}, poll_failure = excluded.poll_failure`);
    return before === undefined;
  });
}

/** Newest first. */
function listHooks(db: Db, deployment_id: string, query: DeploymentHookQuery): Promise<HookRow[]> {
  return db.all(sql`
    select ${HOOK} from deployment_hooks where deployment_id = ${deployment_id}
    order by received_at desc, hook_id desc limit ${query.limit} offset ${query.offset}`);
}

async function newestRevision(reader: Reader, deployment_id: string): Promise<RevisionRow | undefined> {
  const row = await reader.get(sql`
    select ${REVISION} from deployment_revisions where deployment_id = ${deployment_id}
    order by number desc limit 1`);
  return row && parseRevision(row);
}

async function revisionsOf(tx: Transaction, deployment_id: string, sha: string) {
  const commit = sql`source_revision_config ->> 'repo_commit_sha'`;
  const row = await tx.get(sql`
    select coalesce(max(case when ${commit} = ${sha} then 1 else 0 end), 0) as ${number('same')},
      coalesce(max(case when ${IS_OPEN} and ${commit} is null then 1 else 0 end), 0) as ${number('unknown')}
    from deployment_revisions where deployment_id = ${deployment_id}`);
  return { has_revision: row?.same === 1, is_building_branch: row?.unknown === 1 };
}

async function findDelivery(tx: Transaction, deployment_id: string, { kind, delivery_id }: NewHook) {
  if (delivery_id === null) return undefined;
  return tx.get(sql`
    select ${HOOK} from deployment_hooks
    where deployment_id = ${deployment_id} and kind = ${kind} and delivery_id = ${delivery_id}`);
}

async function insertHook(
  tx: Transaction,
  deployment_id: string,
  { hook_id, kind, delivery_id, event, ...first }: NewHook,
  decision: PushDecision,
): Promise<HookRow> {
  const { outcome } = decision;
  const reason = outcome === 'queued' ? null : decision.reason;
  const revision_id = revisionOf(decision);
  const { ref = null, sha = null } = outcome === 'ignored' ? first : decision.pushed;
  const row = await tx.get(sql`
    insert into deployment_hooks (hook_id, deployment_id, kind, delivery_id, event, ref, sha, outcome, reason,
      revision_id, received_at)
    values (${hook_id}, ${deployment_id}, ${kind}, ${delivery_id}, ${event}, ${ref}, ${sha}, ${outcome}, ${reason},
      ${revision_id}, ${NOW})
    returning ${HOOK}`);
  if (!row) throw new Error('an insert returned no row');
  return row;
}

function revisionOf(decision: PushDecision): string | null {
  if (decision.outcome === 'queued') return decision.revision.revision_id;
  return decision.outcome === 'known' ? decision.revision_id : null;
}

async function deleteOldHooks(tx: Transaction, deployment_id: string): Promise<void> {
  await tx.run(sql`
    delete from deployment_hooks where deployment_id = ${deployment_id} and hook_id not in (
      select hook_id from deployment_hooks where deployment_id = ${deployment_id}
      order by received_at desc, hook_id desc limit ${MAX_HOOKS})`);
}
