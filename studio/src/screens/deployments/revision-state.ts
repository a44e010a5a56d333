import type { Revision } from '../../api/control-plane.ts';
import type { Tone } from '../../ui/pill.tsx';

export type Step = Revision['build_steps'][number];

interface State {
  readonly word: string;
  readonly tone: Tone;
}

const STATES: Readonly<Record<Revision['status'], State>> = {
  CREATING: { word: 'being created', tone: 'wait' },
  QUEUED: { word: 'queued', tone: 'wait' },
  AWAITING_BUILD: { word: 'waiting for its build', tone: 'wait' },
  BUILDING: { word: 'building', tone: 'run' },
  AWAITING_DEPLOY: { word: 'built', tone: 'run' },
  DEPLOYING: { word: 'deploying', tone: 'run' },
  CREATE_FAILED: { word: 'not created', tone: 'err' },
  BUILD_FAILED: { word: 'build failed', tone: 'err' },
  DEPLOY_FAILED: { word: 'deploy failed', tone: 'err' },
  DEPLOYED: { word: 'serving', tone: 'ok' },
  SKIPPED: { word: 'skipped', tone: 'idle' },
  INTERRUPTED: { word: 'interrupted', tone: 'idle' },
  UNKNOWN: { word: 'unknown', tone: 'idle' },
};

/** The displayed state of a revision. In the API, a replaced one stays `DEPLOYED`. */
export function stateOf({
  status,
  is_active,
  is_canary,
}: Pick<Revision, 'status' | 'is_active' | 'is_canary'>): State {
  if (is_canary) return { word: 'canary', tone: 'ok' };
  return status === 'DEPLOYED' && !is_active ? { word: 'replaced', tone: 'idle' } : STATES[status];
}

/** The revision may still go live. */
export function isOpen({ status }: Pick<Revision, 'status'>): boolean {
  const { tone } = STATES[status];
  return tone === 'wait' || tone === 'run';
}

export function isFailed({ status }: Pick<Revision, 'status'>): boolean {
  return STATES[status].tone === 'err';
}

/** When it entered its state: the end of its last step. */
export function stateSince({ build_steps, updated_at }: Revision): string {
  return build_steps.at(-1)?.ended_at ?? updated_at;
}

/** When a step of a revision ended, epoch ms. `now` while it is running. A step cut short by a crash has no end. */
export function endOf({ ended_at }: Step, revision: Revision, now: number): number {
  if (ended_at !== null) return Date.parse(ended_at);
  return isOpen(revision) ? now : Date.parse(revision.updated_at);
}

/**
 * Duration from the first step to the end of the last, or to `now` while one is running, ms. Undefined before the first
 * step.
 */
export function tookOf(revision: Revision, now: number): number | undefined {
  const [first] = revision.build_steps;
  const last = revision.build_steps.at(-1);
  if (!first || !last) return undefined;
  return Math.max(0, endOf(last, revision, now) - Date.parse(first.started_at));
}

/** The revision that served before the active one and still has its build. */
export function previousOf(
  revisions: readonly Revision[],
  active: Revision | undefined,
): Revision | undefined {
  if (!active) return undefined;
  return revisions.find(
    ({ status, is_built, number }) => status === 'DEPLOYED' && is_built && number < active.number,
  );
}
