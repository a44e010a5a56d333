import type { Actor } from '../../../auth/actor.ts';
import { requireUnrestricted } from '../../../auth/authorize.ts';
import { BadRequest, Conflict, InvalidInput, NotFound, ServerError } from '../../../core/errors.ts';
import { type Ids, isUuid } from '../../../core/ids.ts';
import type { Logger } from '../../../core/logger.ts';
import type { EventBus } from '../../../events/bus.ts';
import { announceInterrupted, announceQueued } from '../revision-events.ts';
import type {
  Deployment,
  DeploymentCreate,
  DeploymentPatch,
  DeploymentQuery,
  DeploymentSecret,
  DeploymentsDeleted,
  DeploymentsList,
} from '../schemas/deployments.ts';
import type { DeploymentChange, DeploymentRepository } from '../storage/deployment-repository.ts';
import type { DeploymentFiles } from '../storage/files.ts';
import type { NewRevision, RevisionRepository } from '../storage/revisions.ts';
import type { DeploymentRow } from '../storage/rows.ts';
import type { DataPlane } from './plane.ts';
import { checkNames, unmasked } from './secrets.ts';
import { checkSource, hasSource, namesSource, type SourceChoice } from './sources.ts';
import { deploymentView } from './view.ts';

export interface DeploymentDeps {
  readonly deployments: DeploymentRepository;
  readonly revisions: RevisionRepository;
  readonly files: DeploymentFiles;
  readonly plane: Omit<DataPlane, 'deploy' | 'foldersInUse'>;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly logger: Logger;
  /** As in `SourceRules`. */
  readonly allow_local_sources: boolean;
  /** URL path of a deployment on this server. */
  readonly pathOf: (name: string) => string;
}

/** Maximum number of `deployment_ids` in one request. */
const MAX_DELETED = 100;

export type DeploymentService = ReturnType<typeof deploymentService>;

/**
 * Deployments: code from a repository or an upload that this server builds and serves. `origin`: the URL of the
 * server as the caller sees it. Every method throws `Forbidden` for users and tokens, whose access is
 * restricted.
 */
export function deploymentService(deps: DeploymentDeps) {
  const { deployments, revisions, files, plane, bus, logger, pathOf } = deps;

  async function view(row: DeploymentRow, origin: string): Promise<Deployment> {
    return deploymentView(row, await deployments.secrets(row.deployment_id), origin + pathOf(row.name));
  }

  async function remove(actor: Actor, deployment_id: string): Promise<void> {
    const { name } = await requireDeployment(deployments, actor, deployment_id);
    const id = deployment_id.toLowerCase();
    for (const revision_id of await revisions.interruptAll(id)) announceInterrupted(bus, revision_id);
    await plane.remove(id);
    // Move the files while the name is still taken, so that a new deployment of the same name finds none of
    // them.
    await files.setAside(id, name);
    try {
      await deployments.delete(id);
    } catch (error) {
      // The deletion may have committed despite the error.
      if (await deployments.find(id)) await files.putBack(id, name);
      throw error;
    }
    await files.remove(id);
    logger.info('deployment deleted', { deployment: name, by_key: actor.key });
  }

  return {
    /** Also queues its first revision, if there is something to build. Throws `Conflict` if the name is taken. */
    async create(actor: Actor, input: DeploymentCreate, origin: string): Promise<Deployment> {
      requireUnrestricted(actor, 'deployments');
      const row = await insertDeployment(deps, input);
      logger.info('deployment created', { deployment: row.name, source: row.source, by_key: actor.key });
      return this.get(actor, row.deployment_id, origin);
    },

    async get(actor: Actor, deployment_id: string, origin: string): Promise<Deployment> {
      return view(await requireDeployment(deployments, actor, deployment_id), origin);
    },

    /** Newest first. */
    async list(actor: Actor, query: DeploymentQuery, origin: string): Promise<DeploymentsList> {
      requireUnrestricted(actor, 'deployments');
      const { limit, offset, name, name_contains, deployment_type, deployment_ids } = query;
      const given = deployment_ids === undefined ? undefined : idList(deployment_ids);
      const rows = await deployments.search({
        limit,
        offset,
        name,
        name_contains,
        deployment_type,
        ids: given,
      });
      const views = await Promise.all(rows.map((row) => view(row, origin)));
      return {
        resources: views.filter(({ status }) => query.status === undefined || status === query.status),
        offset: offset + rows.length,
      };
    },

    /** Any `source_revision_config`, `secrets` or `canary_percent` queues a revision. A masked secret keeps its value. */
    async update(
      actor: Actor,
      deployment_id: string,
      patch: DeploymentPatch,
      origin: string,
    ): Promise<Deployment> {
      await applyPatch(deps, await requireDeployment(deployments, actor, deployment_id), patch);
      return this.get(actor, deployment_id, origin);
    },

    /** Always throws: the server has no image registry. */
    async refuseImages(actor: Actor, deployment_id: string): Promise<never> {
      await requireDeployment(deployments, actor, deployment_id);
      throw new BadRequest(
        'Images are not supported: deploy sources instead, with `deploy --remote` or `agent-server deploy`.',
      );
    },

    /** Stops it, and deletes its builds, threads and everything else. */
    delete: remove,

    /** Reports failures in the result instead of throwing. */
    async deleteMany(actor: Actor, deployment_ids: string | string[]): Promise<DeploymentsDeleted> {
      requireUnrestricted(actor, 'deployments');
      return deleteEach(idList(deployment_ids), (id) => remove(actor, id));
    },
  };
}

async function insertDeployment(deps: DeploymentDeps, input: DeploymentCreate) {
  const { deployments, bus, ids } = deps;
  const { name, source, secrets } = input;
  checkNames(secrets ?? []);
  const row = {
    deployment_id: ids.uuid4(),
    name,
    source,
    source_config: withoutUrl(input.source_config ?? {}),
    source_revision_config: input.source_revision_config ?? {},
  };
  checkSource(row, deps);
  const revision = (await hasSource(row, deps)) ? newRevision(ids, row, 'api') : undefined;
  if (!(await deployments.insert(row, unmasked(secrets ?? [], []), revision)))
    throw new Conflict(
      `A deployment named "${name}" already exists. Choose another name, or update that deployment.`,
    );
  if (revision) announceQueued(bus);
  return row;
}

async function applyPatch(deps: DeploymentDeps, row: DeploymentRow, patch: DeploymentPatch): Promise<void> {
  const { deployments, plane, bus } = deps;
  const { deployment_id } = row;
  checkNames(patch.secrets ?? []);
  const next = patched(row, patch);
  checkSource(next, deps);
  // Before the transaction, which must not wait for the disk.
  if (isRevised(patch)) await hasSource(next, deps);
  const updated = await deployments.update(deployment_id, (stored, secrets) =>
    changeOf(patched(stored, patch), secrets, patch, deps),
  );
  if (updated === false) throw missingDeployment(deployment_id);
  if (patch.source_config?.pin !== undefined) await plane.refresh(row.name);
  if (updated) announceQueued(bus);
}

function isRevised({ source_revision_config, secrets, canary_percent }: DeploymentPatch): boolean {
  return source_revision_config != null || secrets != null || canary_percent != null;
}

function patched(row: DeploymentRow, patch: DeploymentPatch): SourceChoice {
  return {
    deployment_id: row.deployment_id,
    source: patch.revision_source ?? row.source,
    source_config: { ...row.source_config, ...withoutUrl(patch.source_config ?? {}) },
    source_revision_config: {
      ...withoutCommit(row.source_revision_config),
      ...(patch.source_revision_config ?? {}),
    },
  };
}

function changeOf(
  next: SourceChoice,
  stored: readonly DeploymentSecret[],
  patch: DeploymentPatch,
  deps: DeploymentDeps,
): DeploymentChange {
  checkSource(next, deps);
  const { secrets, canary_percent } = patch;
  const isQueued = isRevised(patch) && namesSource(next);
  return {
    ...next,
    secrets: secrets == null ? undefined : unmasked(secrets, stored),
    revision: isQueued ? { ...newRevision(deps.ids, next, 'api'), canary_percent } : undefined,
  };
}

/** Throws `NotFound`, and `Forbidden` for users and tokens. */
export async function requireDeployment(
  deployments: DeploymentRepository,
  actor: Actor,
  deployment_id: string,
): Promise<DeploymentRow> {
  requireUnrestricted(actor, 'deployments');
  const row = isUuid(deployment_id) ? await deployments.find(deployment_id.toLowerCase()) : undefined;
  if (!row) throw missingDeployment(deployment_id);
  return row;
}

export function missingDeployment(deployment_id: string): NotFound {
  return new NotFound(`Deployment ${deployment_id} not found`);
}

export function newRevision(
  ids: Ids,
  { source, source_revision_config }: Pick<SourceChoice, 'source' | 'source_revision_config'>,
  trigger: NewRevision['trigger'],
): NewRevision {
  return { revision_id: ids.uuid7(), source, source_revision_config, trigger };
}

/** Drops the pinned commit: the next revision builds what its branch points to by then. */
export function withoutCommit({
  repo_commit_sha: _,
  ...config
}: DeploymentRow['source_revision_config']): DeploymentRow['source_revision_config'] {
  return config;
}

/** Drops `custom_url`: the server determines the URL of a deployment. */
function withoutUrl({
  custom_url: _,
  ...config
}: DeploymentRow['source_config']): DeploymentRow['source_config'] {
  return config;
}

async function deleteEach(
  ids: readonly string[],
  remove: (id: string) => Promise<void>,
): Promise<DeploymentsDeleted> {
  const result: DeploymentsDeleted = { deleted: [], failed: [] };
  for (const id of ids) {
    try {
      await remove(id);
      result.deleted.push(id);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      result.failed.push({ id, detail: error.message });
    }
  }
  return result;
}

function idList(given: string | readonly string[]): string[] {
  const ids = [given]
    .flat()
    .flatMap((text) => text.split(','))
    .map((id) => id.trim())
    .filter(Boolean);
  if (ids.length > MAX_DELETED)
    throw new InvalidInput(`deployment_ids: must name at most ${MAX_DELETED} deployments`);
  return ids;
}
