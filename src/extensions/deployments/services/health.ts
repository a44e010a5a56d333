import type { Actor } from '../../../auth/actor.ts';
import { type Clock, timestamp } from '../../../core/clock.ts';
import type { DeploymentHealth, HealthCheck, RevisionHealth } from '../schemas/health.ts';
import type { RepositoryAccessRepository } from '../storage/repositories.ts';
import type { DeploymentRow, RevisionRow } from '../storage/rows.ts';
import { type DeploymentDeps, requireDeployment } from './control-plane.ts';
import { nextAction } from './next-action.ts';
import type { DataPlane, DeploymentActivity } from './plane.ts';

export interface DeploymentHealthDeps extends Pick<DeploymentDeps, 'deployments' | 'revisions'> {
  readonly repositoryAccess: RepositoryAccessRepository;
  readonly plane: Pick<DataPlane, 'activity'>;
  readonly clock: Clock;
  /** Polling interval for new commits, seconds; 0 disables polling. */
  readonly poll_seconds: number;
  /** As in `DeploymentSituation`. */
  readonly has_keys: boolean;
}

export type DeploymentHealthService = ReturnType<typeof deploymentHealthService>;

/** Current health of a deployment, and what its operator can do next. */
export function deploymentHealthService(deps: DeploymentHealthDeps) {
  const { deployments, repositoryAccess, plane, clock, poll_seconds, has_keys } = deps;

  return {
    /** `base`: the URL of the server, with its prefix. Throws `NotFound` if the deployment does not exist. */
    async get(actor: Actor, deployment_id: string, base: string): Promise<DeploymentHealth> {
      const deployment = await requireDeployment(deployments, actor, deployment_id);
      const { deployment_id: id, name, active_revision_id, latest_revision_id } = deployment;
      const activity = await plane.activity(name);
      const live = activity?.revisions ?? [];
      const ids = [active_revision_id, latest_revision_id, ...live.map(({ revision_id }) => revision_id)];
      const rows = await rowsOf(deps, id, ids);
      const active = rows.get(active_revision_id ?? '');
      const latest = rows.get(latest_revision_id ?? '');
      const check = active ? checkOf(activity, clock) : null;
      const access = await repositoryAccess.find(id);
      const situation = { deployment, active, latest, check, access, has_keys, base };
      return {
        active_revision: active ? activeView(active) : null,
        check,
        queue: activity?.queue ?? null,
        revisions: live
          .flatMap((each): RevisionHealth[] => {
            const row = rows.get(each.revision_id);
            return row ? [{ ...each, number: row.number }] : [];
          })
          .toSorted((a, b) => b.number - a.number),
        next_action: nextAction({ ...situation, is_polled: poll_seconds > 0 }),
      };
    },
  };
}

async function rowsOf(
  { revisions }: Pick<DeploymentHealthDeps, 'revisions'>,
  deployment_id: DeploymentRow['deployment_id'],
  ids: readonly (string | null)[],
): Promise<Map<string, RevisionRow>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null);
  const rows = await Promise.all(wanted.map((id) => revisions.find(deployment_id, id)));
  return new Map(rows.flatMap((row) => (row ? [[row.revision_id, row]] : [])));
}

/** A revision serves from the end of its last step. */
function activeView({ revision_id, number, build_steps, updated_at }: RevisionRow) {
  return { revision_id, number, since: build_steps.at(-1)?.ended_at ?? updated_at };
}

function checkOf(activity: DeploymentActivity | undefined, clock: Clock): HealthCheck {
  const problem = activity
    ? activity.problem
    : 'No process is serving it; see the server log for the reason.';
  return { ok: problem === undefined, at: timestamp(clock.now()), reason: problem ?? null };
}
