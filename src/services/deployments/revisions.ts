import type { Actor } from '../../auth/actor.ts';
import { Conflict, InvalidInput, NotFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import {
  type Deployment,
  REVISION_STATUSES,
  type Revision,
  type RevisionCreate,
  type RevisionQuery,
  type RevisionStatus,
  type RevisionsList,
} from '../../schemas/deployments.ts';
import { type DeploymentRow, OPEN_STATUSES, type RevisionRow } from '../../storage/deployments/rows.ts';
import {
  type DeploymentDeps,
  type DeploymentService,
  newRevision,
  requireDeployment,
  withoutCommit,
} from './deployments.ts';
import { checkSource, hasSource } from './sources.ts';
import { revisionView } from './view.ts';

export interface RevisionDeps extends DeploymentDeps {
  readonly service: Pick<DeploymentService, 'get'>;
}

export type RevisionService = ReturnType<typeof revisionService>;

/** Revisions of a deployment. All throw `NotFound` without such a deployment or revision. */
export function revisionService({ service, ...deps }: RevisionDeps) {
  const { deployments, revisions, bus, ids } = deps;

  const require = (actor: Actor, deployment_id: string, revision_id: string) =>
    requireRevision(deps, actor, deployment_id, revision_id);

  return {
    require,

    async get(actor: Actor, deployment_id: string, revision_id: string): Promise<Revision> {
      const { deployment, revision } = await require(actor, deployment_id, revision_id);
      return revisionView(revision, deployment);
    },

    /** The newest first. */
    async list(actor: Actor, deployment_id: string, query: RevisionQuery): Promise<RevisionsList> {
      const deployment = await requireDeployment(deployments, actor, deployment_id);
      const { limit, offset, status } = query;
      const statuses = status === undefined ? undefined : statusList(status);
      const rows = await revisions.list(deployment.deployment_id, { statuses, limit, offset });
      return { resources: rows.map((row) => revisionView(row, deployment)), offset: offset + rows.length };
    },

    /** Queues a revision of the newest sources, whether they changed or not. */
    async create(actor: Actor, deployment_id: string, input: RevisionCreate): Promise<Revision> {
      const deployment = await requireDeployment(deployments, actor, deployment_id);
      const source_revision_config = {
        ...withoutCommit(deployment.source_revision_config),
        ...(input.source_revision_config ?? {}),
      };
      const choice = { ...deployment, source_revision_config };
      checkSource(choice, deps);
      if (!(await hasSource(choice, deps)))
        throw new InvalidInput('source_revision_config.source_tarball_path: upload the sources first');
      const row = await revisions.insert(
        deployment.deployment_id,
        newRevision(ids, choice, input.trigger ?? 'api'),
      );
      bus.emit('revision.queued');
      return revisionView(row, deployment);
    },

    /** Queues the same once more: without a build if its build is kept, else of the same commit or upload. */
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
        const choice = { ...deployment, source, source_revision_config };
        checkSource(choice, deps);
        if (!(await hasSource(choice, deps)))
          throw new Conflict('Neither the build of this revision nor its sources are kept.');
      }
      await revisions.insert(deployment.deployment_id, {
        ...newRevision(ids, { source, source_revision_config }, 'manual'),
        build,
      });
      bus.emit('revision.queued');
      return service.get(actor, deployment.deployment_id, origin);
    },

    /** Ends a revision that is not served yet; its processes end soon after. Throws `Conflict` if it has ended. */
    async interrupt(actor: Actor, deployment_id: string, revision_id: string): Promise<Revision> {
      const { deployment, revision } = await require(actor, deployment_id, revision_id);
      const interrupted = await revisions.transition(revision.revision_id, OPEN_STATUSES, 'INTERRUPTED');
      if (!interrupted) {
        const { status } = (await require(actor, deployment_id, revision_id)).revision;
        throw new Conflict(`The revision is ${status} and can no longer be interrupted.`);
      }
      bus.emit('revision.interrupted', revision.revision_id);
      return this.get(actor, deployment.deployment_id, revision.revision_id);
    },
  };
}

async function requireRevision(
  { deployments, revisions }: Pick<DeploymentDeps, 'deployments' | 'revisions'>,
  actor: Actor,
  deployment_id: string,
  revision_id: string,
): Promise<{ deployment: DeploymentRow; revision: RevisionRow }> {
  const deployment = await requireDeployment(deployments, actor, deployment_id);
  const revision = isUuid(revision_id)
    ? await revisions.find(deployment.deployment_id, revision_id.toLowerCase())
    : undefined;
  if (revision) return { deployment, revision };
  throw new NotFound(`There is no revision ${revision_id} of the deployment "${deployment.name}"`);
}

function statusList(text: string): RevisionStatus[] {
  return text.split(',').map((each) => {
    const status = each.trim().toUpperCase() as RevisionStatus;
    if (REVISION_STATUSES.includes(status)) return status;
    throw new InvalidInput(`status: must be some of ${REVISION_STATUSES.join(', ')}`);
  });
}
