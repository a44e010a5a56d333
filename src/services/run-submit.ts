import type { Actor } from '../auth/actor.ts';
import { type Clock, timestamp } from '../core/clock.ts';
import { Conflict, NotFound, Unavailable } from '../core/errors.ts';
import type { EventBus } from '../events/bus.ts';
import type { Assistant } from '../schemas/assistants.ts';
import type { Run, RunCreate } from '../schemas/runs.ts';
import type { Thread } from '../schemas/threads.ts';
import type { NewTurn } from '../storage/a2a/turns.ts';
import type { Enqueued, NewRun, Queued } from '../storage/queue/enqueue.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { Ttl } from '../storage/threads/row.ts';
import type { Once } from './idempotency.ts';
import { alreadyRunning, strategyFor } from './multitask.ts';
import { checkRecursionLimit, type RecursionRules } from './recursion-limit.ts';
import type { AllowedRun } from './run-access.ts';
import { type RunContext, runKwargs, runMetadata } from './run-options.ts';
import type { WebhookPolicy } from './webhook-policy.ts';

export interface SubmitDeps extends RecursionRules {
  readonly queue: RunQueue;
  readonly bus: EventBus;
  readonly clock: Clock;
  /** Which addresses may be told of a run's end. */
  readonly webhooks: Pick<WebhookPolicy, 'check'>;
  /** How long the log of an ended run is kept, ms. */
  readonly keep_log_ms: number;
  /** Aborted from the moment the process was told to stop. */
  readonly draining: AbortSignal;
  /** What becomes of threads that runs make; undefined: they stay. */
  readonly default_ttl: Ttl | undefined;
}

/** A question that nobody answers for a day goes with its thread. */
const ANSWERABLE: Ttl = { strategy: 'delete', ttl: 24 * 60 };

/** What a client asks for, and what the server made of it. */
export interface Submission extends Omit<RunContext, 'run_id' | 'now_ms'>, AllowedRun {
  /** The run is made once for all requests with this key. */
  readonly once?: Once | undefined;
  /** The message of an A2A client that the run answers. */
  readonly turn?: NewTurn | undefined;
}

/**
 * Puts a run into the queue and tells the others of its thread and the workers. Throws `InvalidInput` when its webhook
 * must not be called, or it may take too many steps, and `Unavailable` while the server stops.
 */
export async function submit(deps: SubmitDeps, submission: Submission): Promise<Run> {
  refuseWhileDraining(deps, submission.actor);
  await checkWebhook(deps, submission.input);
  const request = newRun(deps, submission);
  return submitted(deps, request, await deps.queue.enqueue(request));
}

/** Tells the others of the thread and the workers of a run that is in the queue now; throws when it is not. */
export function submitted(deps: SubmitDeps, request: NewRun, outcome: Enqueued): Run {
  announce(deps, request, accepted(outcome, request));
  return request.run;
}

/** Several runs, each on a thread of its own: all or none. */
export async function submitAll(deps: SubmitDeps, submissions: readonly Submission[]): Promise<Run[]> {
  for (const { actor } of submissions) refuseWhileDraining(deps, actor);
  for (const { input } of submissions) await checkWebhook(deps, input);
  const requests = submissions.map((submission) => newRun(deps, submission));
  const outcomes = await deps.queue.enqueueAll(requests);
  return requests.map((request, i) => submitted(deps, request, outcomes[i] as Enqueued));
}

/**
 * A server that stops executes nothing new: another one, or the next, takes the request sooner. But what a run asks for
 * that still executes waits with it for the next start. Throws `Unavailable`.
 */
export function refuseWhileDraining(
  { draining }: Pick<SubmitDeps, 'draining'>,
  { from_within }: Actor,
): void {
  if (draining.aborted && !from_within)
    throw new Unavailable('The server is shutting down: send the request again');
}

/** Throws `InvalidInput` for an address that must not be called, also while nothing is sent (CONTRACT §6). */
export async function checkWebhook(
  { webhooks }: Pick<SubmitDeps, 'webhooks'>,
  { webhook }: Pick<RunCreate, 'webhook'>,
): Promise<void> {
  if (typeof webhook === 'string') await webhooks.check(webhook);
}

function accepted(outcome: Enqueued, { run }: NewRun): Queued {
  if (outcome.outcome === 'rejected') throw alreadyRunning(run.thread_id, outcome.blocking);
  if (outcome.outcome === 'missing thread') throw new NotFound('Thread or assistant not found.');
  if (outcome.outcome === 'task changed') {
    throw new Conflict(
      'The task changed while the message was on its way. Get it, and send the message again.',
    );
  }
  if (outcome.outcome === 'run exists') throw new Conflict(`Run ${run.run_id} already exists`);
  return outcome;
}

function announce({ bus }: SubmitDeps, { delay_ms }: NewRun, { stopping, ended, ready }: Queued): void {
  for (const run_id of stopping) bus.control(run_id);
  for (const run_id of ended) bus.hint(run_id);
  if (ready) bus.wake();
  if (delay_ms > 0) bus.scheduled();
}

/** The run as it is stored, and what the queue must know to add it. Throws `InvalidInput` as `submit` does. */
export function newRun(
  { clock, keep_log_ms, default_ttl, max_recursion_limit }: SubmitDeps,
  { input, once, turn, visibility, ...made }: Submission,
): NewRun {
  checkRecursionLimit({ max_recursion_limit }, input.config);
  const context = { ...made, now_ms: clock.now() };
  const { assistant, thread_id, run_id, now_ms, temporary, answerable } = context;
  const kwargs = runKwargs(input, context);
  // An assistant may be older than the server's limit.
  const ofAssistant = `config.recursion_limit of assistant ${assistant.assistant_id}`;
  checkRecursionLimit({ max_recursion_limit }, kwargs.config, ofAssistant);
  const delay_ms = Math.max(0, Math.round((input.after_seconds ?? 0) * 1000));
  const strategy = input.multitask_strategy ?? 'enqueue';
  // A delayed run shows its due time as its creation (CONTRACT §3).
  const created_at = timestamp(now_ms + delay_ms);
  const run: Run = {
    run_id,
    thread_id,
    assistant_id: assistant.assistant_id,
    metadata: runMetadata(input, context),
    status: 'pending',
    kwargs,
    multitask_strategy: strategy,
    created_at,
    updated_at: timestamp(now_ms),
    langsmith_session_name: null,
  };
  const makesThread = temporary || input.if_not_exists === 'create';
  return {
    run,
    delay_ms,
    thread: makesThread ? newThread(run, assistant) : undefined,
    visibility,
    thread_ttl: answerable ? ANSWERABLE : default_ttl,
    thread_metadata: { graph_id: assistant.graph_id, assistant_id: assistant.assistant_id },
    once,
    turn,
    own_id: input.run_id === run_id,
    others: strategyFor(strategy, run_id, keep_log_ms),
  };
}

/** A thread that a run makes carries the run's metadata (CONTRACT §3 `if_not_exists`). */
function newThread(run: Run, { graph_id, assistant_id }: Assistant): Thread {
  return {
    thread_id: run.thread_id,
    created_at: run.updated_at,
    updated_at: run.updated_at,
    metadata: { ...run.metadata, graph_id, assistant_id },
    status: 'busy',
    config: {},
    values: null,
  };
}
