import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { timestamp } from '../../core/clock.ts';
import { NotFound } from '../../core/errors.ts';
import { spanIdOf, traceIdOf } from '../../core/trace-ids.ts';
import type { StepsNow } from '../../events/current-steps.ts';
import type { Run } from '../../schemas/runs.ts';
import type {
  CurrentStep,
  RunAttempt,
  RunSteps,
  Step,
  StepDetails,
  StepsQuery,
  VisibleCurrentStep,
} from '../../schemas/steps.ts';
import type { AttemptNow } from '../../storage/runs/active-attempts.ts';
import type { RunRepository } from '../../storage/runs/runs.ts';
import type { RunStepRepository, StepPosition, StoredAttempt, StoredStep } from '../../storage/runs/steps.ts';
import { inputOutput } from './step-details.ts';
import { isFinal } from './transitions.ts';

export interface RunStepDeps {
  readonly runs: RunRepository;
  readonly runSteps: RunStepRepository;
  readonly stepsNow: StepsNow;
  /** Project folder, which paths in stacks are relative to. */
  readonly root: string;
  /** Set where several executors share a queue, as in a deployment: its sources are not edited in place. */
  readonly executor_id?: string | undefined;
}

export type RunStepService = ReturnType<typeof runStepService>;

/** Recorded steps of runs. */
export function runStepService({ runs, runSteps, stepsNow, root, executor_id }: RunStepDeps) {
  /** Throws `NotFound` for a run that the actor cannot see. */
  async function visibleRun(actor: Actor, thread_id: string | undefined, run_id: string): Promise<Run> {
    const visibility = await authorize(actor, 'threads:read', { thread_id, run_id });
    const run = await runs.get(thread_id, run_id, visibility);
    if (!run) throw new NotFound('Run not found');
    return run;
  }

  return {
    /** A page of the run's steps, and all of its attempts. Throws `NotFound` for a run that the actor cannot see. */
    async steps(
      actor: Actor,
      thread_id: string | undefined,
      run_id: string,
      { limit, after }: StepsQuery,
    ): Promise<RunSteps> {
      const run = await visibleRun(actor, thread_id, run_id);
      // Read before the stored steps: a step then appears in both or in one, never in neither.
      const current = run.status === 'running' ? await stepsNow(run) : undefined;
      const [steps, attempts] = await Promise.all([
        runSteps.steps(run, positionOf(after), limit),
        runSteps.attempts(run_id),
      ]);
      const last = steps.length < limit ? undefined : steps.at(-1);
      return {
        run_id,
        trace_id: traceIdOf(run_id, run.kwargs.config.configurable),
        attempts: attempts.map((attempt, index) =>
          visibleAttempt(run_id, attempt, index < attempts.length - 1 || isFinal(run.status)),
        ),
        steps: steps.map((step) => visibleStep(run_id, step)),
        current: run.status === 'running' ? currentSteps(run_id, current, steps) : [],
        next: last ? `${last.attempt}.${last.number}` : null,
      };
    },

    /**
     * A step with what it was given and returned. Throws `NotFound` for a step that is not stored, and for a run that the
     * actor cannot see. Of a failure, callers with access rules see the error alone.
     */
    async step(
      actor: Actor,
      thread_id: string | undefined,
      { run_id, step_id }: { run_id: string; step_id: string },
      { is_local }: { readonly is_local: boolean },
    ): Promise<StepDetails> {
      const run = await visibleRun(actor, thread_id, run_id);
      const found = await runSteps.step(run, positionOf(step_id));
      if (!found) throw new NotFound('Step not found');
      const sees_code = actor.rules.length === 0;
      const edits = is_local && executor_id === undefined && sees_code && actor.scope === 'admin';
      const reader = { root, sees_code, is_local: edits };
      return {
        ...visibleStep(run_id, found.step),
        run_id,
        thread_id: run.thread_id,
        contents: found.contents ? inputOutput(found.contents, reader) : null,
      };
    },
  };
}

/** Excludes the steps of this page. */
function currentSteps(run_id: string, now: AttemptNow | undefined, stored: readonly StoredStep[]) {
  if (!now) return null;
  const { attempt } = now;
  const known = new Set(stored.filter((step) => step.attempt === attempt).map(({ number }) => number));
  const others = now.steps.filter(({ number }) => !known.has(number));
  return others.map((step) => visibleCurrentStep(run_id, attempt, step));
}

function visibleCurrentStep(run_id: string, attempt: number, step: CurrentStep): VisibleCurrentStep {
  return {
    ...step,
    attempt,
    span_id: spanIdOf(run_id, attempt, step.number),
    started_at: timestamp(step.started_at),
    ended_at: step.ended_at === null ? null : timestamp(step.ended_at),
  };
}

function positionOf(after: string | undefined): StepPosition {
  const [attempt = 0, number = 0] = (after ?? '').split('.').map(Number);
  return { attempt, number };
}

function visibleStep(run_id: string, step: StoredStep): Step {
  return { ...step, span_id: spanIdOf(run_id, step.attempt, step.number) };
}

/** `isOver`: the run has another attempt or has ended, so that the outcome of this one stays unknown. */
function visibleAttempt(run_id: string, attempt: StoredAttempt, isOver: boolean): RunAttempt {
  const status = attempt.status === 'running' && isOver ? 'lost' : attempt.status;
  return { ...attempt, status, span_id: spanIdOf(run_id, attempt.attempt) };
}
