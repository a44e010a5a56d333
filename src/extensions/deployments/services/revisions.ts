import type { Actor } from '../../../auth/actor.ts';
import { Conflict, InvalidInput, NotFound } from '../../../core/errors.ts';
import { isUuid } from '../../../core/ids.ts';
import { announceInterrupted, announceQueued } from '../revision-events.ts';
import {
  type Deployment,
  REVISION_STATUSES,
  type Revision,
  type RevisionCreate,
  type RevisionQuery,
  type RevisionStatus,
  type RevisionsList,
} from '../schemas/deployments.ts';
import { type DeploymentRow, OPEN_STATUSES, type RevisionRow } from '../storage/rows.ts';
import {
  type DeploymentDeps,
  type DeploymentService,
  newRevision,
  requireDeployment,
  withoutCommit,
} from './control-plane.ts';
import { checkSource, hasSource } from './sources.ts';
import { revisionView } from './view.ts';

export interface RevisionDeps extends DeploymentDeps {
  readonly service: DeploymentService;
}

const NOTHING_STORED =
  'Neither the build of this revision nor its sources are stored any more: deploy the sources again.';

export type RevisionService = ReturnType<typeof revisionService>;

/** Revisions of a deployment. Every method throws `NotFound` if the deployment or revision does not exist. */
export function revisionService({ service, ...deps }: RevisionDeps) {
  const { deployments, revisions, files, bus, ids, logger } = deps;

  const require = (actor: Actor, deployment_id: string, revision_id: string) =>
    requireRevision(deps, actor, deployment_id, revision_id);

  return {
    require,

    async get(actor: Actor, deployment_id: string, revision_id: string): Promise<Revision> {
      const { deployment, revision } = await require(actor, deployment_id, revision_id);
      return revisionView(revision, deployment);
    },

    /** Newest first. */
    async list(actor: Actor, deployment_id: string, query: RevisionQuery): Promise<RevisionsList> {
      const deployment = await requireDeployment(deployments, actor, deployment_id);
      const { limit, offset, status } = query;
      const statuses = status === undefined ? undefined : statusList(status);
      const rows = await revisions.list(deployment.deployment_id, { statuses, limit, offset });
      return { resources: rows.map((row) => revisionView(row, deployment)), offset: offset + rows.length };
    },

    /** Queues a revision of the newest sources, even if they have not changed. */
    async create(actor: Actor, deployment_id: string, input: RevisionCreate): Promise<Revision> {
      const deployment = await requireDeployment(deployments, actor, deployment_id);
      const source_revision_config = {
        ...withoutCommit(deployment.source_revision_config),
        ...(input.source_revision_config ?? {}),
      };
      const choice = { ...deployment, source_revision_config };
      checkSource(choice, deps);
      if (!(await hasSource(choice, deps)))
        throw new InvalidInput('source_revision_config.source_tarball_path: is required; upload first');
      const { trigger, canary_percent } = input;
      const revision = { ...newRevision(ids, choice, trigger ?? 'api'), canary_percent };
      const row = await revisions.insert(deployment.deployment_id, revision);
      announceQueued(bus);
      return revisionView(row, deployment);
    },

    /**
     * Queues the same revision again: reuses its build if it is still stored, else rebuilds the same commit or
     * upload.
     */
    async redeploy(
      actor: Actor,
      deployment_id: string,
      revision_id: string,
      origin: string,
    ): Promise<Deployment> {
      const { deployment, revision } = await require(actor, deployment_id, revision_id);
      const { source, source_revision_config, build_id, built, commit_info } = revision;
      const build = build_id !== null && built !== null ? { build_id, built, commit_info } : undefined;
      if (!build) {
        checkSource({ ...deployment, source, source_revision_config }, deps);
        const upload = source_revision_config.source_tarball_path ?? '';
        if (source === 'internal_source' && !(await files.hasUpload(deployment.deployment_id, upload)))
          throw new Conflict(NOTHING_STORED);
      }
      await revisions.insert(deployment.deployment_id, {
        ...newRevision(ids, { source, source_revision_config }, 'manual'),
        build,
      });
      announceQueued(bus);
      return service.get(actor, deployment.deployment_id, origin);
    },

    /** Makes the canary the active revision. Throws `Conflict` unless the revision is a serving canary. */
    async promote(actor: Actor, deployment_id: string, revision_id: string): Promise<Revision> {
      const found = await require(actor, deployment_id, revision_id);
      await promoteCanary(deps, found);
      logger.info('canary promoted', { deployment: found.deployment.name, revision_id, by_key: actor.key });
      return this.get(actor, deployment_id, revision_id);
    },

    /**
     * Ends a revision that does not serve yet, whose processes end soon after, or a canary, whose runs continue
     * in the active revision. Throws `Conflict` if it has ended or is active.
     */
    async interrupt(actor: Actor, deployment_id: string, revision_id: string): Promise<Revision> {
      const { deployment, revision } = await require(actor, deployment_id, revision_id);
      const interrupted = await revisions.transition(revision.revision_id, OPEN_STATUSES, 'INTERRUPTED');
      if (!interrupted && !(await endCanary(deps, { deployment, revision }))) {
        const { status } = (await require(actor, deployment_id, revision_id)).revision;
        throw new Conflict(`The revision is ${status} and can no longer be interrupted.`);
      }
      announceInterrupted(bus, revision.revision_id);
      return this.get(actor, deployment.deployment_id, revision.revision_id);
    },
  };
}

export interface FoundRevision {
  readonly deployment: DeploymentRow;
  readonly revision: RevisionRow;
}

type CanaryDeps = Pick<DeploymentDeps, 'plane' | 'revisions'>;

async function promoteCanary(
  { plane, revisions }: CanaryDeps,
  { deployment: { name, deployment_id }, revision: { revision_id, number } }: FoundRevision,
): Promise<void> {
  const decide = () => revisions.promote(deployment_id, revision_id);
  const isPromoted = await plane.promote({ name, revision_id }, decide);
  if (!isPromoted) throw new Conflict(`Revision ${number} is not a serving canary.`);
}

/** Returns false if it is not a canary, or had already ended. */
async function endCanary(
  { plane, revisions }: CanaryDeps,
  { deployment: { name, deployment_id }, revision: { revision_id, status } }: FoundRevision,
): Promise<boolean> {
  const decide = () => revisions.endCanary(deployment_id, revision_id);
  const hasEnded = await plane.endCanary({ name, revision_id }, decide);
  return hasEnded && status !== 'INTERRUPTED';
}

async function requireRevision(
  { deployments, revisions }: Pick<DeploymentDeps, 'deployments' | 'revisions'>,
  actor: Actor,
  deployment_id: string,
  revision_id: string,
): Promise<FoundRevision> {
  const deployment = await requireDeployment(deployments, actor, deployment_id);
  const revision = isUuid(revision_id)
    ? await revisions.find(deployment.deployment_id, revision_id.toLowerCase())
    : undefined;
  if (revision) return { deployment, revision };
  throw new NotFound(`Revision ${revision_id} of deployment "${deployment.name}" not found`);
}

function statusList(text: string): RevisionStatus[] {
  return text.split(',').map((each) => {
    const status = each.trim().toUpperCase() as RevisionStatus;
    if (REVISION_STATUSES.includes(status)) return status;
    throw new InvalidInput(`status: must be a comma-separated list of ${REVISION_STATUSES.join(', ')}`);
  });
}
