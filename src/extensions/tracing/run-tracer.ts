import { tryOrUndefined } from '../../core/failure.ts';
import type { Logger } from '../../core/logger.ts';
import { callerSpanOf, runSpanIdOf, spanIdOf, traceIdOf } from '../../core/trace-ids.ts';
import type { RunSpan } from '../../graphs/graph.ts';
import { graphIdOf, type Run } from '../../schemas/runs.ts';
import { isFinal } from '../../services/runs/transitions.ts';
import type { ClaimedRun } from '../../storage/queue/claim.ts';
import type { RunAgent, RunRepository } from '../../storage/runs/runs.ts';
import {
  type AttemptRecord,
  isStep,
  type RunStepRepository,
  type StoredAttempt,
} from '../../storage/runs/steps.ts';
import type { Recorded, RecordedEnd } from '../../workers/attempt.ts';
import { dueAt } from '../../workers/run-log.ts';
import type { Sampler } from './settings.ts';
import type { SpanBuffer } from './span-buffer.ts';
import type { spanFactory, TracedAttempt, TracedEnd, TracedRun } from './spans.ts';

/** Steps per query. */
const PAGE = 1000;

export interface RunTracerDeps {
  readonly buffer: Pick<SpanBuffer, 'add'>;
  readonly spans: ReturnType<typeof spanFactory>;
  readonly sampler: Sampler;
  /** Whether spans contain the inputs and outputs of runs. */
  readonly has_contents: boolean;
  readonly runs: RunRepository;
  readonly runSteps: RunStepRepository;
  readonly logger: Logger;
}

/**
 * Creates spans of runs from committed data only (at-least-once). Spans that a lost process committed but may
 * not have sent are sent again by the process that continues or ends the run, with the same ids.
 */
export function runTracer({ buffer, spans, sampler, has_contents, runs, runSteps, logger }: RunTracerDeps) {
  /** Adds an attempt, with a link to the run that it resumed. */
  async function addAttempt(
    run: TracedRun,
    { resumed_from_run_id: run_id, ...attempt }: TracedAttempt & Pick<AttemptRecord, 'resumed_from_run_id'>,
  ): Promise<void> {
    const found = run_id === undefined ? undefined : await runs.get(run.thread_id, run_id);
    const span = found && { trace_id: traceOf(found), span_id: runSpanIdOf(found.run_id) };
    const resumed = run_id === undefined ? undefined : { run_id, span };
    buffer.add(() => spans.attempt(run, { ...attempt, resumed }));
  }

  /** Adds an attempt whose end was not recorded: it ends with its last known step. */
  async function addLost(run: TracedRun, lost: StoredAttempt): Promise<void> {
    const { attempt, worker_id } = lost;
    const resumed_from_run_id = lost.resumed_from_run_id ?? undefined;
    const started = Date.parse(lost.started_at);
    let ended = started;
    for (let number = 0; ; ) {
      const steps = await runSteps.steps(run, { attempt, number }, PAGE);
      const own = steps.filter((step) => step.attempt === attempt);
      for (const step of own) {
        const times = { started_at: Date.parse(step.started_at), ended_at: Date.parse(step.ended_at) };
        ended = Math.max(ended, times.ended_at);
        buffer.add(() => spans.step(run, attempt, { ...step, ...times }));
      }
      if (own.length < PAGE) break;
      number = own.at(-1)?.number ?? 0;
    }
    await addAttempt(run, { attempt, worker_id, started, ended, status: 'lost', resumed_from_run_id });
  }

  /**
   * Adds the lost attempts directly before this one; earlier ones were sent with the attempts that followed
   * them.
   */
  async function addLostBefore(run: TracedRun, before: number): Promise<void> {
    const earlier = (await runSteps.attempts(run.run_id)).filter(({ attempt }) => attempt < before);
    const last = earlier.findLastIndex(({ status }) => status !== 'running');
    for (const lost of earlier.slice(last + 1)) await addLost(run, lost);
  }

  /** Adds the end of a run that no attempt in this process has recorded; does nothing if the run continues. */
  async function addEnded(run_id: string): Promise<void> {
    const found = await runs.getWithAgent(undefined, run_id);
    if (!found || !isFinal(found.run.status)) return;
    const { run } = found;
    const traced = tracedRun(found);
    if (!isSampled(traced, sampler)) return;
    await addLostBefore(traced, Number.POSITIVE_INFINITY);
    const end = { status: run.status, error: null, at: Date.parse(run.updated_at) };
    buffer.add(() => spans.run(traced, end));
  }

  const reading = new Set<Promise<void>>();
  function inBackground(work: Promise<void>): void {
    const read = work
      .catch((error: unknown) => logger.warn('cannot read the recorded steps of a run', { error }))
      .finally(() => reading.delete(read));
    reading.add(read);
  }

  return {
    /** Listener of attempts in this process. Never waits and never throws. */
    onRecorded({ claimed, steps, attempt, end }: Recorded): void {
      const run = tracedRun(claimed);
      if (!isSampled(run, sampler)) return;
      const { run_id, starts } = claimed.lease;
      for (const step of tracedSteps(steps)) buffer.add(() => spans.step(run, starts, step));
      if (attempt?.ended !== undefined) {
        const over = { ...attempt, attempt: starts, ended: attempt.ended };
        if (attempt.resumed_from_run_id === undefined) buffer.add(() => spans.attempt(run, over));
        else inBackground(addAttempt(run, over));
        if (starts > 1) inBackground(addLostBefore(run, starts));
      } else if (end) inBackground(addLostBefore(run, starts + 1));
      if (end) {
        const traced = tracedEnd(end, has_contents);
        buffer.add(() => spans.run(run, traced));
      }
      if (!end && attempt?.status === 'retried') inBackground(addEnded(run_id));
    },

    /** Resolves when every span is in the buffer. */
    async drain(): Promise<void> {
      await Promise.all(reading);
    },

    /** Listener for runs that end without an attempt. */
    onLost(run_id: string): void {
      inBackground(addEnded(run_id));
    },
  };
}

/** Without what is stored of their contents: they are held until their spans are sent. */
function tracedSteps(steps: Recorded['steps']) {
  return steps.filter(isStep).map(({ masked: _stored, ...step }) => step);
}

/**
 * Reads the contents immediately, so that the state is not retained; omits contents that are too large for a
 * string.
 */
function tracedEnd({ status, error, at, contents }: RecordedEnd, has_contents: boolean): TracedEnd {
  return { status, error, at: Date.parse(at), contents: has_contents ? tryOrUndefined(contents) : undefined };
}

/** Span of an attempt that is starting. */
export function attemptSpan(claimed: ClaimedRun, sampler: Sampler): RunSpan {
  const traced = tracedRun(claimed);
  const { run_id, starts } = claimed.lease;
  return {
    trace_id: traced.trace_id,
    span_id: spanIdOf(run_id, starts),
    sampled: isSampled(traced, sampler),
    attempt: { run_id, number: starts },
  };
}

function traceOf({ run_id, kwargs }: Run): string {
  return traceIdOf(run_id, kwargs.config.configurable);
}

function tracedRun({ run, agent }: { readonly run: Run; readonly agent: RunAgent }): TracedRun {
  const { run_id, thread_id, assistant_id } = run;
  const graph_id = graphIdOf(run.kwargs);
  return {
    run_id,
    thread_id,
    assistant_id,
    // The assistant of a graph has the name of the graph.
    agent_name: agent.assistant_name ?? graph_id,
    agent_version: agent.assistant_version?.toString(),
    graph_id,
    trace_id: traceOf(run),
    caller: callerSpanOf(run.kwargs.config.configurable),
    due: dueAt(run),
  };
}

/**
 * Whether a trace is sampled: the caller's decision, else by the random last 52 bits of its id, so that all
 * processes decide alike.
 */
function isSampled({ trace_id, caller }: TracedRun, { ratio, follows_caller }: Sampler): boolean {
  if (caller && follows_caller) return caller.sampled;
  return Number.parseInt(trace_id.slice(-13), 16) / 2 ** 52 < ratio;
}
