import { type RandomNumber, systemRandom } from '../../../core/backoff.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Logger } from '../../../core/logger.ts';
import type { EventBus } from '../../../events/bus.ts';
import { Loop } from '../../../workers/loop.ts';
import { announceQueued } from '../revision-events.ts';
import { RevisionError } from '../services/builder.ts';
import { followedBranch, pollDecision } from '../services/pushes.ts';
import { credentialsFor, type ResolveRef } from '../services/repository.ts';
import type { DeploymentRepository } from '../storage/deployment-repository.ts';
import type { PushRepository } from '../storage/pushes.ts';
import type { RepositoryAccessRepository } from '../storage/repositories.ts';
import type { DeploymentRow } from '../storage/rows.ts';

export interface PollDeps {
  readonly deployments: DeploymentRepository;
  readonly pushes: PushRepository;
  readonly repositoryAccess: RepositoryAccessRepository;
  readonly resolve: ResolveRef;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly poll_seconds: number;
  readonly random?: RandomNumber;
}

/** Concurrent lookups. A host that never answers occupies one until git times out, and delays no others. */
const MAX_AT_ONCE = 4;

/** Polls the repositories of deployments that build on push for new commits of their branches, a few at a time. */
export function deploymentPolls({ logger, poll_seconds, random = systemRandom, ...deps }: PollDeps) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const interval_ms = poll_seconds * 1000;
  const loop = new Loop({ name: 'deployment polls', tick, logger });
  /** Lookups in flight, by deployment. */
  const asked = new Map<string, Promise<void>>();
  let hasStarted = false;

  async function tick(): Promise<number> {
    // Jitter: servers that started together should not poll together.
    if (!hasStarted) {
      hasStarted = true;
      return interval_ms * random();
    }
    for (const deployment of await deps.deployments.listFromRepositories()) {
      // Its host has not answered the last poll yet.
      if (asked.has(deployment.deployment_id)) continue;
      while (asked.size >= MAX_AT_ONCE) await Promise.race(asked.values());
      if (signal.aborted) break;
      ask(deployment);
    }
    return interval_ms * (0.9 + random() / 5);
  }

  function ask(deployment: DeploymentRow): void {
    const { deployment_id, name } = deployment;
    const answer = poll(deployment, signal, { ...deps, logger })
      .catch((error: unknown) => logger.error('polling failed', { deployment: name, error }))
      .finally(() => asked.delete(deployment_id));
    asked.set(deployment_id, answer);
  }

  return {
    start(): void {
      if (poll_seconds > 0) loop.start();
    },
    /** Aborts the lookups in flight. */
    async stop(): Promise<void> {
      stopping.abort();
      await loop.stop();
      await Promise.all(asked.values());
    },
  };
}

type OnePoll = Omit<PollDeps, 'poll_seconds' | 'random' | 'deployments'>;

/** A repository that cannot be reached does not block the others. Throws only storage errors. */
async function poll(deployment: DeploymentRow, signal: AbortSignal, deps: OnePoll): Promise<void> {
  const { deployment_id, source_config, name } = deployment;
  const { pushes, repositoryAccess, resolve, bus, ids, logger } = deps;
  const followed = followedBranch(deployment);
  const url = source_config.repo_url;
  if ('reason' in followed || !url) return;
  const stored = await repositoryAccess.credentials(deployment_id);
  const credentials = credentialsFor(url, stored);
  try {
    const found = await resolve({ url, ref: followed.branch, credentials, signal });
    if (found.known_hosts !== undefined)
      await repositoryAccess.pinHosts(deployment_id, stored.known_hosts, found.known_hosts);
    const revision_id = await pushes.poll(deployment_id, found.sha, (state) =>
      pollDecision(state, { url, branch: followed.branch }, ids),
    );
    if (revision_id === undefined) return;
    announceQueued(bus);
    logger.info('new commit found', { deployment: name, commit: found.sha, revision_id });
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof RevisionError)) throw error;
    const { step, code, hint } = error;
    const isNew = await pushes.pollFailed(deployment_id, { step, code, hint });
    if (isNew) logger.warn('cannot poll a repository for new commits', { deployment: name, code, hint });
  }
}
