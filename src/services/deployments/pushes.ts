import type { Ids } from '../../core/ids.ts';
import type { PollState, PushDecision, PushState } from '../../storage/deployments/pushes.ts';
import type { NewRevision } from '../../storage/deployments/revisions.ts';
import { type DeploymentRow, OPEN_STATUSES, type RevisionRow } from '../../storage/deployments/rows.ts';
import { newRevision, withoutCommit } from './deployments.ts';
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

/** Decides what a verified hook leads to. */
export function pushDecision({ deployment, newest }: PushState, hook: ReceivedHook, ids: Ids): PushDecision {
  if (hook.reason !== undefined) return ignored(hook.reason);
  const followed = followedBranch(deployment);
  if ('reason' in followed) return ignored(followed.reason);
  const branch = followed.branch === DEFAULT_BRANCH ? hook.default_branch : followed.branch;
  const pushed = hook.refs.find(({ ref }) => ref === undefined || ref === branch);
  if (!pushed) return ignored(otherRef(hook.refs[0]?.ref, branch));
  if (pushed.deleted) return ignored(`${pushed.ref} was deleted.`);
  if (newest && pushed.sha !== undefined && isOf(newest, pushed.sha)) {
    return {
      outcome: 'known',
      revision_id: newest.revision_id,
      reason: 'The newest revision already has this commit.',
      pushed,
    };
  }
  return { outcome: 'queued', revision: revisionOf(deployment, pushed.sha, 'push', ids), pushed };
}

/** A polled branch and the commit it points to. */
export interface Polled {
  readonly url: string;
  readonly branch: string;
  readonly sha: string;
}

/**
 * The revision to queue after a poll. A commit never gets a second revision: the first may have failed, or an
 * operator may have rolled back to an older one. Queues nothing while the commit of an open revision is
 * unknown.
 */
export function pollDecision(
  { deployment, has_revision, is_building_branch }: PollState,
  { url, branch, sha }: Polled,
  ids: Ids,
): NewRevision | undefined {
  const followed = followedBranch(deployment);
  const isSame = deployment.source_config.repo_url === url && 'branch' in followed;
  if (!isSame || followed.branch !== branch || has_revision || is_building_branch) return undefined;
  return revisionOf(deployment, sha, 'poll', ids);
}

/** A revision of a commit, or without one of what the branch points to when it is built. */
function revisionOf(
  { source, source_revision_config }: DeploymentRow,
  sha: string | undefined,
  trigger: 'push' | 'poll',
  ids: Ids,
): NewRevision {
  const config = {
    ...withoutCommit(source_revision_config),
    ...(sha !== undefined && { repo_commit_sha: sha }),
  };
  return newRevision(ids, { source, source_revision_config: config }, trigger);
}

/** Whether the revision covers the commit; a failed or interrupted one does not, so that it is built again. */
function isOf({ source, source_revision_config, status }: RevisionRow, sha: string): boolean {
  const isGood = status === 'DEPLOYED' || OPEN_STATUSES.some((open) => open === status);
  return source === 'github' && source_revision_config.repo_commit_sha === sha && isGood;
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
