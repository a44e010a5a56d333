import type { Actor } from '../../../auth/actor.ts';
import { NotFound } from '../../../core/errors.ts';
import { asSentence } from '../../../core/text.ts';
import type { DeploymentHealth, RevisionHealth } from '../schemas/health.ts';
import type { RevisionExplanation } from '../schemas/revision-explanation.ts';
import type { RevisionRepository } from '../storage/revisions.ts';
import { OPEN_STATUSES, type RevisionRow } from '../storage/rows.ts';
import type { DeploymentHealthService } from './health.ts';
import type { RevisionService } from './revisions.ts';

export interface RevisionExplainDeps {
  readonly revisions: RevisionRepository;
  readonly service: RevisionService;
  readonly health: DeploymentHealthService;
}

export type RevisionExplainService = ReturnType<typeof revisionExplain>;

/** What the summary depends on besides the row. */
interface Situation {
  readonly is_active: boolean;
  readonly is_canary: boolean;
  readonly behind: number;
  readonly health: DeploymentHealth;
  readonly activity: RevisionHealth | undefined;
}

/** Explains the state of a revision, or why it is not deployed yet, as a sentence and as fields. */
export function revisionExplain({ revisions, service, health: healthOf }: RevisionExplainDeps) {
  return {
    /**
     * `deployment_id` is `undefined` if the client does not know the revision's deployment. `base`: the URL of
     * the server, with its prefix. Throws `NotFound` if the revision does not exist.
     */
    async explain(
      actor: Actor,
      deployment_id: string | undefined,
      revision_id: string,
      base: string,
    ): Promise<RevisionExplanation> {
      const id = revision_id.toLowerCase();
      const owner = deployment_id ?? (await revisions.deploymentOf(id));
      if (owner === undefined) throw new NotFound(`Revision ${revision_id} not found`);
      const { deployment, revision } = await service.require(actor, owner, id);
      const [health, behind] = await Promise.all([
        healthOf.get(actor, owner, base),
        revision.status === 'QUEUED' ? revisions.countAhead(revision) : 0,
      ]);
      const is_active = deployment.active_revision_id === id;
      const is_canary = deployment.canary_revision_id === id;
      const activity = health.revisions.find((each) => each.revision_id === id);
      const isLatest = deployment.latest_revision_id === id;
      return {
        revision_id: id,
        deployment_id: deployment.deployment_id,
        deployment: deployment.name,
        number: revision.number,
        status: revision.status,
        summary: summaryOf(revision, { is_active, is_canary, behind, health, activity }),
        is_active,
        is_canary,
        behind,
        step: revision.build_steps.at(-1) ?? null,
        failure: revision.failure,
        activity: activity ?? null,
        check: is_active ? health.check : null,
        next_action: isLatest ? health.next_action : null,
      };
    },
  };
}

function summaryOf(revision: RevisionRow, situation: Situation): string {
  const { status, failure, build_steps, updated_at } = revision;
  const { behind, health, is_active, is_canary } = situation;
  const serving = is_active ? '' : servingSummary(revision, health);
  if (OPEN_STATUSES.some((open) => open === status)) {
    if (status === 'QUEUED') return waitingSummary(behind) + serving;
    const step = build_steps.at(-1);
    const where = step ? `: step “${step.name}” since ${step.started_at}` : '';
    return `Being built and deployed${where}.${serving}`;
  }
  if (failure) return `Failed at step “${failure.step}”: ${asSentence(failure.hint)}${serving}`;
  if (status === 'SKIPPED')
    return `Skipped: a newer revision was created before its turn, or its commit was deployed before.${serving}`;
  if (is_active || is_canary || status === 'DEPLOYED') return deployedSummary(revision, situation) + serving;
  return `Ended at ${updated_at} with status ${status}.${serving}`;
}

function waitingSummary(behind: number): string {
  if (behind === 0) return 'Queued, and next in line.';
  const others = behind === 1 ? '1 other revision' : `${behind} other revisions`;
  return `Waits behind ${others}: the server builds one at a time.`;
}

function deployedSummary(
  { canary_percent }: RevisionRow,
  { is_active, is_canary, health, activity }: Situation,
): string {
  if (is_canary) return `Serves ${canary_percent} % of new threads and stateless runs, as a canary.`;
  if (is_active) {
    const since = health.active_revision ? ` since ${health.active_revision.since}` : '';
    const { ok = true, reason = null } = health.check ?? {};
    return ok ? `Serves new requests${since}.` : `Active but unhealthy: ${asSentence(reason ?? '')}`;
  }
  if (!activity) return 'Was deployed, and has been replaced by another revision.';
  return `Draining: ${activity.runs} runs and ${activity.requests} requests are left.`;
}

/** A sentence about the revision that serves instead. */
function servingSummary({ number }: RevisionRow, { active_revision: active }: DeploymentHealth): string {
  if (!active || active.number === number) return ' No revision serves the deployment.';
  return ` Revision ${active.number} serves new requests.`;
}
