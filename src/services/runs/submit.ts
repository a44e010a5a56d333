import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { Conflict, NotFound, Unavailable } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { Thread } from '../../schemas/threads.ts';
import type { NewTurn } from '../../storage/a2a/turns.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { EnqueueResult, NewRun, QueuedResult } from '../../storage/queue/enqueue.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import type { Ttl } from '../../storage/threads/row.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { checkRecursionLimit, type RecursionLimits } from '../assistants/run-config.ts';
import type { IdempotencyContext } from '../idempotency.ts';
import type { WebhookPolicy } from '../webhooks/webhook-policy.ts';
import { effectOnOthers, threadBusy } from './multitask.ts';
import { type RunContext, runKwargs, runMarkers, runMetadata } from './run-options.ts';

export interface AuthorizeRunDeps {
  readonly ids: Ids;
  readonly assistants: Pick<AssistantService, 'idOf'>;
}

/** A run that its actor may make. */
export interface AuthorizedRun {
  readonly run_id: string;
  /** As the rules left it. */
  readonly input: RunCreate;
  /** Which threads may take it, of those that are there. */
  readonly visibility: Visibility | undefined;
}

/**
 * Asks whether the actor may make this run (CONTRACT §10 `create_run`). Rules see what the client asked for as `kwargs`
 * and may change it, and `metadata` as well. `thread_id` is null for a run that makes its own thread.
 */
export async function authorizeRun(
  { ids, assistants }: AuthorizeRunDeps,
  actor: Actor,
  thread_id: string | null,
  input: RunCreate,
): Promise<AuthorizedRun> {
  const run_id = input.run_id ?? ids.uuid7();
  if (actor.rules.length === 0) return { run_id, input, visibility: undefined };
  const { metadata, assistant_id, run_id: _chosen, ...kwargs } = input;
  const { multitask_strategy = 'enqueue', if_not_exists = 'reject', after_seconds = 0 } = input;
  const value = {
    thread_id,
    assistant_id: assistants.idOf(assistant_id),
    run_id,
    status: 'pending',
    metadata: metadata ?? {},
    prevent_insert_if_inflight: multitask_strategy === 'reject',
    multitask_strategy,
    if_not_exists,
    after_seconds,
    kwargs,
  };
  const visibility = await authorize(actor, 'threads:create_run', value);
  return { run_id, input: { ...input, ...value.kwargs, metadata: value.metadata }, visibility };
}

export interface SubmitDeps extends RecursionLimits {
  readonly queue: RunQueue;
  readonly bus: EventBus;
  readonly clock: Clock;
  /** Which addresses may be told of a run's end. */
  readonly webhooks: Pick<WebhookPolicy, 'check'>;
  /** How long the log of an ended run is kept, ms. */
  readonly log_retention_ms: number;
  /** Aborted from the moment the process was told to stop. */
  readonly draining: AbortSignal;
  /** What becomes of threads that runs make; undefined: they stay. */
  readonly default_ttl: Ttl | undefined;
}

/** A question that nobody answers for a day goes with its thread. */
const INTERRUPTED_TTL: Ttl = { strategy: 'delete', ttl: 24 * 60 };

/** What a client asks for, and what the server made of it. */
export interface Submission extends Omit<RunContext, 'run_id' | 'now_ms'>, AuthorizedRun {
  /** The run is made once for all requests with this key. */
  readonly idempotency?: IdempotencyContext | undefined;
  /** The message of an A2A client that the run answers. */
  readonly turn?: NewTurn | undefined;
}

/**
 * Puts a run into the queue and tells the others of its thread and the workers. Throws `InvalidInput` when its webhook
 * must not be called, or it may take too many steps, and `Unavailable` while the server stops.
 */
export async function submit(deps: SubmitDeps, submission: Submission): Promise<Run> {
  rejectWhileDraining(deps, submission.actor);
  await checkWebhook(deps, submission.input);
  const request = newRun(deps, submission);
  return confirmSubmission(deps, request, await deps.queue.enqueue(request));
}

/** Tells the others of the thread and the workers of a run that is in the queue now; throws when it is not. */
export function confirmSubmission(deps: SubmitDeps, request: NewRun, outcome: EnqueueResult): Run {
  notify(deps, request, requireQueued(outcome, request));
  return request.run;
}

/** Several runs, each on a thread of its own: all or none. */
export async function submitAll(deps: SubmitDeps, submissions: readonly Submission[]): Promise<Run[]> {
  for (const { actor } of submissions) rejectWhileDraining(deps, actor);
  for (const { input } of submissions) await checkWebhook(deps, input);
  const requests = submissions.map((submission) => newRun(deps, submission));
  const outcomes = await deps.queue.enqueueAll(requests);
  return requests.map((request, i) => confirmSubmission(deps, request, outcomes[i] as EnqueueResult));
}

/**
 * A server that stops executes nothing new: another one, or the next, takes the request sooner. But what a run asks for
 * that still executes waits with it for the next start. Throws `Unavailable`.
 */
export function rejectWhileDraining(
  { draining }: Pick<SubmitDeps, 'draining'>,
  { is_internal }: Actor,
): void {
  if (draining.aborted && !is_internal)
    throw new Unavailable('The server is shutting down: send the request again');
}

/** Throws `InvalidInput` for an address that must not be called, also while nothing is sent (CONTRACT §6). */
export async function checkWebhook(
  { webhooks }: Pick<SubmitDeps, 'webhooks'>,
  { webhook }: Pick<RunCreate, 'webhook'>,
): Promise<void> {
  if (typeof webhook === 'string') await webhooks.check(webhook);
}

function requireQueued(outcome: EnqueueResult, { run }: NewRun): QueuedResult {
  if (outcome.outcome === 'rejected') throw threadBusy(run.thread_id, outcome.blocking);
  if (outcome.outcome === 'missing thread') throw new NotFound('Thread or assistant not found.');
  if (outcome.outcome === 'task changed') {
    throw new Conflict(
      'The task changed while the message was on its way. Get it, and send the message again.',
    );
  }
  if (outcome.outcome === 'run exists') throw new Conflict(`Run ${run.run_id} already exists`);
  return outcome;
}

function notify({ bus }: SubmitDeps, { delay_ms }: NewRun, { stopping, ended, ready }: QueuedResult): void {
  for (const run_id of stopping) bus.emit('run.cancelled', run_id);
  for (const run_id of ended) bus.updated(run_id);
  if (ready) bus.emit('run.ready');
  if (delay_ms > 0) bus.emit('schedule.changed');
}

/** The run as it is stored, and what the queue must know to add it. Throws `InvalidInput` as `submit` does. */
export function newRun(
  { clock, log_retention_ms, default_ttl, max_recursion_limit }: SubmitDeps,
  { input, idempotency, turn, visibility, ...rest }: Submission,
): NewRun {
  checkRecursionLimit({ max_recursion_limit }, input.config);
  const context = { ...rest, now_ms: clock.now() };
  const { assistant, thread_id, run_id, now_ms, temporary, keep_interrupted } = context;
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
    markers: runMarkers(input, { ...context, is_of_task: turn !== undefined }),
    delay_ms,
    thread: makesThread ? newThread(run, assistant) : undefined,
    visibility,
    thread_ttl: keep_interrupted ? INTERRUPTED_TTL : default_ttl,
    thread_metadata: { graph_id: assistant.graph_id, assistant_id: assistant.assistant_id },
    idempotency_key: idempotency,
    turn,
    has_client_id: input.run_id === run_id,
    others: effectOnOthers(strategy, run_id, log_retention_ms),
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
