import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ids } from '../../core/ids.ts';
import { lazy } from '../../core/lifecycle.ts';
import type { Logger } from '../../core/logger.ts';
import type { Dispatch } from '../../http/dispatch.ts';
import type { BuildRevision } from '../../services/deployments/builder.ts';
import type { DataPlane } from '../../services/deployments/data-plane.ts';
import { type DeploymentFiles, deploymentFiles } from '../../storage/deployments/files.ts';
import type { DeploymentRow } from '../../storage/deployments/rows.ts';
import { deploymentPolls } from '../../workers/deployments/polls.ts';
import { deploymentQueue } from '../../workers/deployments/queue.ts';
import { servedRevision } from '../../workers/deployments/served-revision.ts';
import type { AccessControl } from '../auth.ts';
import type { Foundation } from '../foundation.ts';
import type { Companion } from '../lifecycle.ts';
import { pathOfDeployment } from '../service-settings.ts';
import { openResolver } from './builder.ts';
import { type CreateApp, DeploymentSlot, type ResumedCanary } from './slot.ts';

export interface DeploymentsContext {
  readonly foundation: Foundation;
  readonly access: AccessControl;
  readonly createApp: CreateApp;
  readonly build: BuildRevision;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The deployments of a server: builds what is queued, and serves each in an app of its own. */
export interface Deployments extends Companion {
  readonly plane: DataPlane;
  readonly dispatch: Dispatch;
}

/** Of a server without deployments. */
export const NO_DEPLOYMENTS: Omit<DataPlane, 'deploy'> = {
  promote: async () => false,
  endCanary: async () => false,
  remove: async () => {},
};

export function openDeployments(config: Config, context: DeploymentsContext): Deployments {
  const { foundation, access, createApp, clock, ids, logger } = context;
  const { storage } = foundation;
  const files = deploymentFiles(config.deployments.folder);
  const slots = new Map<string, DeploymentSlot>();
  const slotDeps = { server: config, createApp, files, clock, ids, logger };
  const prefix = pathOfDeployment(config, '');

  function slotOf(name: string): DeploymentSlot {
    const administrators = storage.apiKeys;
    const is_protected = access.authenticate !== undefined;
    const slot = slots.get(name) ?? new DeploymentSlot(name, { ...slotDeps, administrators, is_protected });
    slots.set(name, slot);
    return slot;
  }

  async function remove(deployment_id: string): Promise<void> {
    const row = await storage.deployments.find(deployment_id);
    const slot = row && slots.get(row.name);
    if (!slot) return;
    slots.delete(row.name);
    await slot.close(0);
  }

  function canaryOf({ deployment_id }: DeploymentRow): ResumedCanary {
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

  /** What served when the server ended. One that cannot start does not keep the others from it. */
  async function resume(): Promise<void> {
    for (const row of await storage.deployments.listActive()) {
      const revision = await servedRevision({ ...storage, files }, row, row.active_revision_id);
      if (!revision) continue;
      await slotOf(row.name)
        .resume(revision, canaryOf(row))
        .catch((error: unknown) =>
          logger.error('a deployment cannot be served', { deployment: row.name, error }),
        );
    }
  }

  const plane: DataPlane = {
    async deploy(revision, control) {
      const slot = slotOf(revision.name);
      try {
        return await slot.deploy(revision, control);
      } finally {
        // It may have been deleted meanwhile, when there was nothing to stop yet.
        const isGone = (await storage.deployments.find(revision.deployment_id)) === undefined;
        if (isGone && slots.get(revision.name) === slot) slots.delete(revision.name);
        if (isGone) await slot.close(0);
      }
    },
    promote: ({ name, revision_id }, decide) => slotOf(name).promote(revision_id, decide),
    endCanary: ({ name, revision_id }, decide) => slotOf(name).endCanary(revision_id, decide),
    remove,
  };
  const work = openWork(config, context, { files, plane });
  let resuming: Promise<void> = Promise.resolve();

  return {
    plane,
    dispatch: dispatchTo((request) => slots.get(nameIn(request, prefix) ?? '')),
    async start() {
      await work.prepare();
      // Foreign code may take its time: the server itself does not wait for it.
      resuming = resume().then(() => work.start());
      resuming.catch((error: unknown) => logger.error('deployments cannot be served', { error }));
    },
    async stop(grace_ms) {
      await resuming.catch(() => {});
      await work.stop();
      await Promise.all([...slots.values()].map((slot) => slot.close(grace_ms)));
    },
  };
}

/** The loops that find, build and deploy revisions. */
function openWork(
  config: Config,
  { foundation, clock, ids, logger, build }: DeploymentsContext,
  { files, plane }: { files: DeploymentFiles; plane: DataPlane },
) {
  const { storage } = foundation;
  const queue = deploymentQueue({
    ...{ ...storage, files, plane, clock, logger, build },
    bus: foundation.bus.bus,
    rules: config.deployments,
  });
  const scratch = lazy(files.emptyScratch);
  const polls = deploymentPolls({
    ...{ ...storage, ids, logger, resolve: openResolver(config, scratch) },
    bus: foundation.bus.bus,
    poll_seconds: config.deployments.poll_seconds,
  });
  return {
    /** What a server that ended has left. */
    async prepare(): Promise<void> {
      await queue.recover();
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

function dispatchTo(find: (request: IncomingMessage) => DeploymentSlot | undefined): Dispatch {
  return {
    request(request, response) {
      const slot = find(request);
      if (!slot) return false;
      slot.withMount(request.url, (mount) => {
        if (mount) return mount.request(request, response);
        response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '1' });
        response.end('{"detail":"No revision of this deployment serves yet."}');
      });
      return true;
    },
    upgrade(request, socket, head) {
      const slot = find(request);
      slot?.withMount(request.url, (mount) => {
        if (mount) mount.upgrade(request, socket, head);
        else socket.end('HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\r\n');
      });
      return slot !== undefined;
    },
  };
}

/** `a` of `/deployments/a/threads?limit=1`. */
function nameIn({ url = '' }: IncomingMessage, prefix: string): string | undefined {
  if (!url.startsWith(prefix)) return undefined;
  return /^[a-z0-9_-]+(?=[/?]|$)/.exec(url.slice(prefix.length))?.[0];
}
