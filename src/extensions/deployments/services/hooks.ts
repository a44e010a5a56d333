import type { Actor } from '../../../auth/actor.ts';
import { Unauthorized } from '../../../core/errors.ts';
import type { Ids } from '../../../core/ids.ts';
import { announceQueued } from '../revision-events.ts';
import {
  type DeploymentHook,
  type DeploymentHookQuery,
  type DeploymentHookSecret,
  type DeploymentHooksList,
  HOOK_KINDS,
  type HookKind,
  type HookUrls,
} from '../schemas/hooks.ts';
import type { NewHook, PushRepository } from '../storage/pushes.ts';
import type { RepositoryAccess, RepositoryAccessRepository } from '../storage/repositories.ts';
import type { HookRow } from '../storage/rows.ts';
import { type DeploymentDeps, missingDeployment, requireDeployment } from './control-plane.ts';
import { followedBranch, pushDecision } from './pushes.ts';
import type { HookHeaders, ReadHook, ReceivedHook } from './repository.ts';

export interface HookDeps extends Pick<DeploymentDeps, 'deployments' | 'bus' | 'ids' | 'logger'> {
  readonly pushes: PushRepository;
  readonly repositoryAccess: RepositoryAccessRepository;
  readonly readHook: ReadHook;
  /** Polling interval for new commits, seconds; 0 disables polling. */
  readonly poll_seconds: number;
}

/** A received hook. `body`: the raw bytes, which the signature covers. */
export interface HookRequest {
  readonly kind: HookKind;
  readonly headers: HookHeaders;
  readonly body: Buffer;
}

/** Longer delivery ids are dropped: no git service sends them. */
const MAX_DELIVERY_ID = 200;
const MAX_EVENT = 100;
const MAX_REF = 300;

export type HookService = ReturnType<typeof hookService>;

/** Hooks of git services: a push to the branch of a deployment queues a revision. */
export function hookService(deps: HookDeps) {
  const { deployments, pushes, repositoryAccess, readHook, bus, ids, logger, poll_seconds } = deps;
  // Verifies hooks of unknown deployments, so that their rejection is indistinguishable from a wrong secret.
  const nobodysSecret = ids.secret();

  return {
    /**
     * Receives a hook. A repeated delivery gets the result of the first one. Throws `Unauthorized` if the
     * secret or signature is wrong, or if the deployment does not exist.
     */
    async receive(deployment_id: string, { kind, headers, body }: HookRequest): Promise<DeploymentHook> {
      const secret = await repositoryAccess.hookSecret(deployment_id);
      const hook = readHook(kind, headers, body, secret ?? nobodysSecret);
      if (!hook.verified || secret === undefined) {
        logger.warn('hook rejected', { deployment_id, kind, reason: hook.reason });
        throw refusal(hook);
      }
      const received = await pushes.receive(deployment_id, newHook(kind, hook, ids), (state) =>
        pushDecision(state, hook, ids),
      );
      // The deployment was deleted meanwhile.
      if (!received) throw refusal(readHook(kind, headers, body, nobodysSecret));
      const { outcome, revision_id } = received.hook;
      if (received.is_new && outcome === 'queued') announceQueued(bus);
      logger.info('hook received', { deployment_id, kind, outcome, revision_id, is_new: received.is_new });
      return hookView(received.hook);
    },

    /**
     * Newest first, with what a client needs to set up hooks. `base`: the URL of the server, with its prefix.
     */
    async list(
      actor: Actor,
      deployment_id: string,
      query: DeploymentHookQuery,
      base: string,
    ): Promise<DeploymentHooksList> {
      const deployment = await requireDeployment(deployments, actor, deployment_id);
      const { deployment_id: id } = deployment;
      const rows = await pushes.listHooks(id, query);
      const access = await repositoryAccess.find(id);
      const followed = followedBranch(deployment);
      return {
        resources: rows.map(hookView),
        offset: query.offset + rows.length,
        urls: urlsOf(base, id),
        secret_created_at: access?.hook_secret_at ?? null,
        branch: 'branch' in followed ? followed.branch : null,
        paused_because: 'reason' in followed ? followed.reason : null,
        poll: poll_seconds === 0 ? null : pollView(poll_seconds, access),
      };
    },

    /** Creates a secret that replaces the previous one; only this result contains it. */
    async createSecret(actor: Actor, deployment_id: string, base: string): Promise<DeploymentHookSecret> {
      const { deployment_id: id, name } = await requireDeployment(deployments, actor, deployment_id);
      const secret = ids.secret();
      const access = await repositoryAccess.setHookSecret(id, secret);
      if (access?.hook_secret_at == null) throw missingDeployment(id);
      logger.info('hook secret created', { deployment: name, by_key: actor.key });
      return { secret, created_at: access.hook_secret_at, urls: urlsOf(base, id) };
    },
  };
}

function refusal({ reason = 'The hook is not signed.' }: ReceivedHook): Unauthorized {
  return new Unauthorized(reason);
}

function newHook(kind: HookKind, { delivery_id, event, refs }: ReceivedHook, ids: Ids): NewHook {
  const isKnown = delivery_id !== undefined && delivery_id.length <= MAX_DELIVERY_ID;
  const [first] = refs;
  return {
    hook_id: ids.uuid7(),
    kind,
    delivery_id: isKnown ? delivery_id.toWellFormed() : null,
    event: event.slice(0, MAX_EVENT).toWellFormed(),
    ref: first?.ref?.slice(0, MAX_REF).toWellFormed() ?? null,
    sha: first?.sha ?? null,
  };
}

function hookView({ hook_id, deployment_id: _, sha, ...row }: HookRow): DeploymentHook {
  return { id: hook_id, ...row, commit_sha: sha };
}

function pollView(
  every_seconds: number,
  access: RepositoryAccess | undefined,
): NonNullable<DeploymentHooksList['poll']> {
  return {
    every_seconds,
    polled_at: access?.polled_at ?? null,
    commit_sha: access?.polled_sha ?? null,
    failure: access?.poll_failure ?? null,
  };
}

function urlsOf(base: string, deployment_id: string): HookUrls {
  const urls = HOOK_KINDS.map((kind) => [kind, `${base}/v2/deployments/${deployment_id}/hooks/${kind}`]);
  return Object.fromEntries(urls) as HookUrls;
}
