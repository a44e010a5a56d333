import type { Config } from '../../../config/schema.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Ids } from '../../../core/ids.ts';
import { closeAll, lazy } from '../../../core/lifecycle.ts';
import type { Logger } from '../../../core/logger.ts';
import { sqlitePath } from '../../../db/engines/sqlite-files.ts';
import type { EventBus } from '../../../events/bus.ts';
import type { Dispatch } from '../../../http/dispatch.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { Apps, Companion, Core } from '../../extension.ts';
import { endBuildsIn } from '../build/process/end-processes.ts';
import { diskUsage } from '../build/process/usage.ts';
import { deploymentSettings } from '../section.ts';
import type { BuildRevision } from '../services/builder.ts';
import type { DataPlane, ServedRevision } from '../services/plane.ts';
import type { DeploymentStorage } from '../storage/all-repositories.ts';
import { type DeploymentDatabases, deploymentDatabases } from '../storage/databases.ts';
import { type DeploymentFiles, deploymentFiles } from '../storage/files.ts';
import { lockFolder } from '../storage/folder-lock.ts';
import type { DeploymentRow } from '../storage/rows.ts';
import { rebuildMissing } from '../work/missing-builds.ts';
import { deploymentPolls } from '../work/polls.ts';
import { deploymentQueue } from '../work/queue.ts';
import { builtRevisions, servedRevision } from '../work/served-revision.ts';
import { finishDeletions } from '../work/unfinished-deletions.ts';
import { openBuilder, openResolver } from './builder.ts';
import { deploymentDispatch } from './dispatch.ts';
import type { ResumedCanary } from './resumption.ts';
import { DeploymentSlot } from './slot.ts';

const FOLDER_WAIT_MS = 30_000;

export interface DeploymentsContext {
  readonly storage: Pick<Storage, 'apiKeys' | 'secrets'> & DeploymentStorage;
  readonly bus: EventBus;
  readonly access: Pick<Core['access'], 'authenticate'>;
  readonly apps: Apps;
  /** Replaces git and the package managers, for tests. */
  readonly build: BuildRevision | undefined;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The deployments of a server: builds queued revisions, and serves each deployment in its own app. */
export interface Deployments extends Companion {
  readonly plane: DataPlane;
  readonly dispatch: Dispatch;
}

export async function openDeployments(config: Config, context: DeploymentsContext): Promise<Deployments> {
  const { storage, access, apps, clock, ids, logger } = context;
  const settings = deploymentSettings(config);
  const files = deploymentFiles(settings.folder);
  const slots = new Map<string, DeploymentSlot>();
  const databases = await openDatabases(config, { files, logger, onTaken: () => void close(0) });
  const folder = await takeFolder(config, databases);
  const parts = { config, context, files };
  const slotDeps = { server: config, apps, files, databases, clock, ids, logger };
  const root = { prefix: config.http.mount_prefix ?? '', secrets: storage.secrets };

  function slotOf(name: string): DeploymentSlot {
    const is_protected = access.authenticate !== undefined;
    const findPinned = () => pinnedRevisions(parts, name);
    const deps = { ...slotDeps, administrators: storage.apiKeys, is_protected, findPinned };
    const isRoot = name === settings.root;
    const slot = slots.get(name) ?? new DeploymentSlot(name, { ...deps, root: isRoot ? root : undefined });
    slots.set(name, slot);
    return slot;
  }

  const open: OpenDeployments = { storage, slots, databases };
  const plane: DataPlane = {
    foldersInUse: () => new Set([...slots.values()].flatMap((slot) => slot.foldersInUse)),
    async deploy(revision, control) {
      const slot = slotOf(revision.name);
      let isServed = false;
      try {
        isServed = await slot.deploy(revision, control);
        return isServed;
      } finally {
        // What serves was not deleted when it was activated, and a later deletion stops it.
        if (!isServed) await closeIfDeleted(open, slot, revision);
      }
    },
    activity: async (name) => slots.get(name)?.activity(),
    refresh: async (name) => slots.get(name)?.refreshPins(),
    // Not `slotOf`: the new slot of a deployment that is being deleted would seem to start forever.
    promote: async ({ name, ...of }, decide) =>
      (await slots.get(name)?.promote(of.revision_id, decide)) ?? false,
    endCanary: ({ name, revision_id }, decide) => slots.get(name)?.endCanary(revision_id, decide) ?? decide(),
    remove: (deployment_id) => remove(open, deployment_id),
  };
  const work = openWork(config, context, { files, plane });
  let resuming: Promise<void> = Promise.resolve();
  let isStopping = false;
  let stopping: Promise<void> | undefined;

  return {
    plane,
    dispatch: dispatchTo(config, apps.page, (name) => slots.get(name)),
    async start() {
      await work.prepare();
      // Do not await: project code may load slowly, and must delay neither the server nor new revisions.
      resuming = resume({ ...parts, slotOf, isStopping: () => isStopping }).catch((error: unknown) =>
        logger.error('cannot serve deployments', { error }),
      );
      work.start();
    },
    async stop(grace_ms) {
      stopping ??= closeAll([() => close(grace_ms), () => databases[Symbol.asyncDispose]()]);
      await stopping;
    },
  };

  async function close(grace_ms: number): Promise<void> {
    isStopping = true;
    await work.stop();
    await Promise.all([...slots.values()].map((slot) => slot.close(grace_ms)));
    await resuming;
    slots.clear();
    folder[Symbol.dispose]();
  }
}

interface OpenDeployments {
  readonly storage: DeploymentStorage;
  readonly slots: Map<string, DeploymentSlot>;
  readonly databases: DeploymentDatabases;
}

async function remove({ storage, slots, databases }: OpenDeployments, deployment_id: string): Promise<void> {
  const row = await storage.deployments.find(deployment_id);
  const slot = row && slots.get(row.name);
  databases.assertOwned();
  if (slot) slots.delete(row.name);
  await slot?.close(0);
  await databases.drop(deployment_id);
}

/** A deployment may have been deleted before there was anything to stop. */
async function closeIfDeleted(
  { storage, slots, databases }: OpenDeployments,
  slot: DeploymentSlot,
  { deployment_id, name }: ServedRevision,
): Promise<void> {
  if ((await storage.deployments.find(deployment_id)) !== undefined) return;
  if (slots.get(name) === slot) slots.delete(name);
  await slot.close(0).finally(() => databases.drop(deployment_id));
}

function dispatchTo(
  config: Config,
  page: string | undefined,
  find: (name: string) => DeploymentSlot | undefined,
) {
  const prefix = config.http.mount_prefix ?? '';
  return deploymentDispatch({ prefix, page, root: deploymentSettings(config).root, find });
}

/** Kept revisions that threads may stay with; `undefined` if threads follow the active one. */
async function pinnedRevisions(
  { context, files }: Pick<ResumeParts, 'context' | 'files'>,
  name: string,
): Promise<ServedRevision[] | undefined> {
  const { deployments, revisions } = context.storage;
  const deployment = await deployments.findByName(name);
  if (deployment?.source_config.pin !== 'thread') return undefined;
  return builtRevisions({ deployments, revisions, files }, deployment);
}

function canaryOf({ context, files }: ResumeParts, { deployment_id }: DeploymentRow): ResumedCanary {
  const { storage } = context;
  return {
    async find() {
      const row = await storage.deployments.find(deployment_id);
      if (row?.canary_revision_id == null) return undefined;
      const revision = await servedRevision({ ...storage, files }, row, row.canary_revision_id);
      if (!revision) await storage.revisions.endCanary(deployment_id, row.canary_revision_id);
      return revision;
    },
    end: (revision_id) => storage.revisions.endCanary(deployment_id, revision_id),
  };
}

/** Resumes the revisions that served before the restart, concurrently: the code of one may hang or fail. */
async function resume(parts: ResumeParts): Promise<void> {
  const { config, context, files, slotOf, isStopping } = parts;
  const { storage } = context;
  const rows = await storage.deployments.listActive();
  const limit_ms = deploymentSettings(config).build_timeout_seconds * 1000;
  await Promise.all(
    rows.map(async (row) => {
      const revision = await servedRevision({ ...storage, files }, row, row.active_revision_id);
      if (!revision || isStopping()) return;
      await slotOf(row.name)
        .resume(revision, { limit_ms, canaries: canaryOf(parts, row) })
        .catch((error: unknown) =>
          context.logger.error('cannot serve a deployment', { deployment: row.name, error }),
        );
    }),
  );
}

interface ResumeParts {
  readonly config: Config;
  readonly context: DeploymentsContext;
  readonly files: DeploymentFiles;
  slotOf(name: string): DeploymentSlot;
  isStopping(): boolean;
}

/** Acquires the deployments of the database; on PostgreSQL another process may hold them. */
function openDatabases(
  config: Config,
  { logger, ...deps }: { files: DeploymentFiles; logger: Logger; onTaken: () => void },
): Promise<DeploymentDatabases> {
  const { storage } = config;
  const { max_connections: each } = deploymentSettings(config);
  return deploymentDatabases({
    ...{ url: storage.url, password_command: storage.password_command },
    connections: { server: storage.max_connections, each },
    log: logger,
    files: deps.files,
    onTaken() {
      logger.error(
        'another process took over the deployments of this database: this one no longer serves them',
      );
      deps.onTaken();
    },
  });
}

/** On PostgreSQL, a process that just lost the deployments of the database holds their folder for a moment longer. */
async function takeFolder(config: Config, databases: AsyncDisposable): Promise<Disposable> {
  const wait_ms = sqlitePath(config.storage.url) === undefined ? FOLDER_WAIT_MS : 0;
  try {
    return await lockFolder(deploymentSettings(config).folder, wait_ms);
  } catch (error) {
    await databases[Symbol.asyncDispose]();
    throw error;
  }
}

/** Loops that find, build and deploy revisions. */
function openWork(
  config: Config,
  {
    storage,
    bus,
    apps,
    clock,
    ids,
    logger,
    build = openBuilder(config, { clock, ...apps }),
  }: DeploymentsContext,
  { files, plane }: { files: DeploymentFiles; plane: DataPlane },
) {
  const settings = deploymentSettings(config);
  const queue = deploymentQueue({
    ...{ ...storage, files, plane, clock, ids, logger, build },
    measure: diskUsage,
    bus,
    rules: settings,
  });
  const scratch = lazy(files.emptyScratch);
  const polls = deploymentPolls({
    ...{ ...storage, ids, logger, resolve: openResolver(config, { scratch, ...apps }) },
    bus,
    poll_seconds: settings.poll_seconds,
  });
  return {
    /** Cleans up what a previous server process left behind. */
    async prepare(): Promise<void> {
      await endBuildsIn(settings.folder);
      await queue.takeOver();
      await finishDeletions({ ...storage, files, logger });
      await rebuildMissing({ ...storage, files, ids, logger });
      await scratch();
    },
    start(): void {
      queue.start();
      polls.start();
    },
    async stop(): Promise<void> {
      await polls.stop();
      await queue.stop();
    },
  };
}
