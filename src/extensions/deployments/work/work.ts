import type { Clock } from '../../../core/clock.ts';
import { isDiskFull, NotFound } from '../../../core/errors.ts';
import { removeTree } from '../../../core/remove-tree.ts';
import type { DeploymentSecret } from '../schemas/deployments.ts';
import { type BuildRevision, type BuildSource, RevisionError } from '../services/builder.ts';
import type { DataPlane } from '../services/plane.ts';
import { credentialsFor, httpsHost } from '../services/repository.ts';
import type { DeploymentRepository } from '../storage/deployment-repository.ts';
import type { DeploymentFiles } from '../storage/files.ts';
import type { RepositoryAccessRepository, StoredCredentials } from '../storage/repositories.ts';
import type { RevisionRepository } from '../storage/revisions.ts';
import type { DeploymentRow, RevisionRow } from '../storage/rows.ts';
import { makeRoom, type QuotaDeps } from './disk-quota.ts';
import type { Progress } from './progress.ts';
import { servedRevision } from './served-revision.ts';

export interface WorkDeps {
  readonly deployments: DeploymentRepository;
  readonly revisions: RevisionRepository;
  readonly repositoryAccess: RepositoryAccessRepository;
  readonly files: DeploymentFiles;
  readonly plane: Pick<DataPlane, 'deploy' | 'foldersInUse'>;
  readonly build: BuildRevision;
  readonly clock: Clock;
  readonly measure: QuotaDeps['measure'];
  readonly rules: {
    readonly keep: number;
    readonly build_timeout_seconds: number;
    readonly max_disk_mb: number;
  };
}

/** A claimed revision. */
export interface RevisionWork {
  readonly revision: RevisionRow;
  readonly deployment: DeploymentRow;
  readonly secrets: readonly DeploymentSecret[];
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** Ends the work on a revision whose row already has its final status; `reason` is for its log. */
  readonly end: (reason: string) => void;
}

/** Default path, as the CLIs set it. */
const CONFIG_PATH = 'langgraph.json';

/** Builds a revision unless it has a build, and deploys it. Throws `NotFound` if it was interrupted or deleted. */
export async function workOn(work: RevisionWork, deps: WorkDeps): Promise<void> {
  if (work.revision.build_id === null) await build(work, deps);
  await deploy(work, deps);
}

async function build(work: RevisionWork, deps: WorkDeps): Promise<void> {
  const { revision, deployment, secrets, progress, signal } = work;
  const { revision_id } = revision;
  const { revisions, repositoryAccess, files } = deps;
  const { deployment_id } = deployment;
  const { install_command, build_command } = deployment.source_config;
  await requireOpen(revisions.transition(revision_id, ['AWAITING_BUILD'], 'BUILDING'));
  const folder = files.build(deployment.name, revision_id);
  // Remains of an earlier server process.
  await removeTree(folder);
  const stored = await repositoryAccess.credentials(deployment_id);
  const { commit, ...built } = await deps.build({
    folder,
    cache: files.cache(deployment.name),
    previous: await previousBuild(work, deps),
    source: sourceOf(work, deps, stored),
    config_path: revision.source_revision_config.langgraph_config_path || CONFIG_PATH,
    install_command: install_command || undefined,
    build_command: build_command || undefined,
    secrets: secrets.map(({ value }) => value),
    log: ({ level, message }) => progress.write(level, message),
    onStep: progress.begin,
    onHostKeys: (known_hosts) => repositoryAccess.pinHosts(deployment_id, stored.known_hosts, known_hosts),
    async onCommit(sha) {
      const outcome = await revisions.recordCommit(revision_id, sha);
      if (outcome === 'skipped')
        work.end('The branch still has the commit of the revision before: nothing is built.');
      if (outcome === undefined) work.end('Interrupted.');
    },
    signal,
  });
  signal.throwIfAborted();
  const { source_revision_config: config } = revision;
  const change = {
    build_id: revision_id,
    built,
    commit,
    source_revision_config: commit ? { ...config, repo_commit_sha: commit.sha } : config,
  };
  try {
    await requireRoom(work, deps);
    await requireOpen(revisions.transition(revision_id, ['BUILDING'], 'AWAITING_DEPLOY', change));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    // The build itself may fill the disk, so that even its failure could not be stored.
    await removeTree(folder);
    const hint =
      'The disk of the server is full. Reduce the size of the build, or have the operator free space, and deploy again.';
    throw new RevisionError('build', 'disk_full', hint, { cause: error });
  }
}

/** Throws a `RevisionError` if the new build does not fit alongside the serving ones. */
async function requireRoom({ revision, deployment }: RevisionWork, deps: WorkDeps): Promise<void> {
  const { used, allowed } = await makeRoom(deployment.name, deps, revision.revision_id);
  if (used <= allowed) return;
  const needed = Math.ceil(used / 1024 ** 2);
  throw new RevisionError(
    'build',
    'disk_quota',
    `With this build, all deployments need ${needed} MB of disk, but deployments.max_disk_mb is ${deps.rules.max_disk_mb}: make it smaller, delete deployments, or have the operator raise the limit.`,
  );
}

async function deploy(
  { revision, deployment, progress, signal }: RevisionWork,
  deps: WorkDeps,
): Promise<void> {
  const { revision_id } = revision;
  const { revisions, plane } = deps;
  await requireOpen(revisions.transition(revision_id, ['AWAITING_DEPLOY'], 'DEPLOYING'));
  const served = await servedRevision(deps, deployment, revision_id);
  if (!served)
    throw new RevisionError('deploy', 'build_gone', 'The build of this revision is no longer stored.');
  const isServed = await plane.deploy(served, {
    log: progress.write,
    onStep: progress.begin,
    activate() {
      progress.end('done');
      return revisions.activate(revision, progress.steps);
    },
    signal,
  });
  await requireOpen(Promise.resolve(isServed));
}

/** The installed packages of the serving revision may be reused. */
async function previousBuild({ deployment }: RevisionWork, { revisions, files }: WorkDeps) {
  const { deployment_id, active_revision_id, name } = deployment;
  if (active_revision_id === null) return undefined;
  const active = await revisions.find(deployment_id, active_revision_id);
  return active?.build_id == null ? undefined : files.build(name, active.build_id);
}

function sourceOf(
  { revision, deployment, progress }: RevisionWork,
  { files }: WorkDeps,
  stored: StoredCredentials,
): BuildSource {
  const { source_tarball_path, repo_ref, repo_commit_sha } = revision.source_revision_config;
  if (revision.source === 'internal_source') {
    return { kind: 'tarball', file: files.upload(source_tarball_path ?? '') };
  }
  const url = deployment.source_config.repo_url ?? '';
  const credentials = credentialsFor(url, stored);
  const host = httpsHost(url);
  if (credentials === undefined && host !== undefined && stored.token !== undefined)
    progress.write('WARNING', `The stored token is for ${stored.token.host}, and is not sent to ${host}.`);
  return { kind: 'git', url, ref: repo_commit_sha || repo_ref || undefined, credentials };
}

async function requireOpen(changed: Promise<boolean>): Promise<void> {
  if (!(await changed)) throw new NotFound('the revision was interrupted or deleted');
}
