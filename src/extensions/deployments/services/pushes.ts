import type { Ids } from '../../../core/ids.ts';
import type { PollState, PushDecision, PushState } from '../storage/pushes.ts';
import type { NewRevision } from '../storage/revisions.ts';
import { type DeploymentRow, OPEN_STATUSES, type RevisionRow } from '../storage/rows.ts';
import { newRevision, withoutCommit } from './control-plane.ts';
import type { ReceivedHook } from './repository.ts';

/** Stands for the repository's default branch, whatever its name. */
const DEFAULT_BRANCH = 'HEAD';

/** A branch whose pushes are deployed: in full, or `DEFAULT_BRANCH`; or why none is. */
export type FollowedBranch = { readonly branch: string } | { readonly reason: string };

const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

export function followedBranch({
  source,
  source_config: { build_on_push },
  source_revision_config: { repo_ref },
}: Pick<DeploymentRow, 'source' | 'source_config' | 'source_revision_config'>): FollowedBranch {
  if (source !== 'github') return { reason: 'The deployment is not built from a repository.' };
  if (build_on_push !== true)
    return { reason: 'The deployment does not build on push: set source_config.build_on_push to true.' };
  if (!repo_ref || repo_ref === DEFAULT_BRANCH) return { branch: DEFAULT_BRANCH };
  if (COMMIT.test(repo_ref)) return { reason: 'The deployment is built from one commit.' };
  if (repo_ref.startsWith('refs/') && !repo_ref.startsWith('refs/heads/'))
    return { reason: `The deployment is built from ${repo_ref}, which is not a branch.` };
  return { branch: repo_ref.startsWith('refs/heads/') ? repo_ref : `refs/heads/${repo_ref}` };
}

/**
 * Decides what a verified hook leads to. It only reports that the branch has moved: hooks arrive late, twice and out of
 * order, so its commit is never what is built.
 */
export function pushDecision({ deployment, newest }: PushState, hook: ReceivedHook, ids: Ids): PushDecision {
  if (hook.reason !== undefined) return ignored(hook.reason);
  const followed = followedBranch(deployment);
  if ('reason' in followed) return ignored(followed.reason);
  const branch = followed.branch === DEFAULT_BRANCH ? hook.default_branch : followed.branch;
  const pushed = hook.refs.find(({ ref }) => ref === undefined || ref === branch);
  if (!pushed) return ignored(otherRef(hook.refs[0]?.ref, branch));
  if (pushed.deleted) return ignored(`${pushed.ref} was deleted.`);
  const known = newest && knownReason(newest, deployment, pushed.sha);
  if (known) return { outcome: 'known', revision_id: newest.revision_id, reason: known, pushed };
  return { outcome: 'queued', revision: revisionOf(deployment, 'push', ids), pushed };
}

/** A polled branch. */
export interface Polled {
  readonly url: string;
  readonly branch: string;
}

/**
 * The revision to queue after a poll. A commit never gets a second revision: the first may have failed, or an
 * operator may have rolled back to an older one. Queues nothing while the commit of an open revision is
 * unknown.
 */
export function pollDecision(
  { deployment, has_revision, is_building_branch, was_found }: PollState,
  { url, branch }: Polled,
  ids: Ids,
): NewRevision | undefined {
  const followed = followedBranch(deployment);
  const isSame = deployment.source_config.repo_url === url && 'branch' in followed;
  if (!isSame || followed.branch !== branch || has_revision || is_building_branch || was_found)
    return undefined;
  return revisionOf(deployment, 'poll', ids);
}

/** A revision of what the branch points to when it is built. */
function revisionOf(
  { source, source_revision_config }: DeploymentRow,
  trigger: 'push' | 'poll',
  ids: Ids,
): NewRevision {
  const choice = { source, source_revision_config: withoutCommit(source_revision_config) };
  return newRevision(ids, choice, trigger);
}

/**
 * Why the newest revision covers a push: it looks up the branch when it is built, or it has the commit that the hook
 * names. One that failed or was interrupted does not, so that it is built again.
 */
function knownReason(
  { source, source_revision_config: { repo_ref, repo_commit_sha: built }, status }: RevisionRow,
  { source_revision_config: { repo_ref: followed } }: DeploymentRow,
  sha: string | undefined,
): string | undefined {
  if (source !== 'github') return undefined;
  if (built == null)
    return status === 'QUEUED' && repo_ref === followed
      ? 'The newest revision waits, and will have what the branch points to then.'
      : undefined;
  const isGood = status === 'DEPLOYED' || OPEN_STATUSES.some((open) => open === status);
  return built === sha && isGood ? 'The newest revision already has this commit.' : undefined;
}

function otherRef(ref: string | undefined, branch: string | undefined): string {
  if (ref?.startsWith('refs/tags/')) return `${ref} is a tag: only pushes to a branch are deployed.`;
  if (branch === undefined)
    return 'The hook does not name the default branch: set source_revision_config.repo_ref to a branch.';
  return `${ref} was pushed; the deployment is built from ${branch}.`;
}

function ignored(reason: string): PushDecision {
  return { outcome: 'ignored', reason };
}
