import type { Actor } from '../../auth/actor.ts';
import { authorize } from '../../auth/authorize.ts';
import { type Clock, timestamp } from '../../core/clock.ts';
import { Conflict, NotFound } from '../../core/errors.ts';
import type { Ids } from '../../core/ids.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { Thread } from '../../schemas/threads.ts';
import type { Visibility } from '../../storage/access/visibility.ts';
import type { NewAnswer } from '../../storage/queue/accept-answer.ts';
import type { EnqueueResult, NewRun, QueuedResult } from '../../storage/queue/enqueue.ts';
import { effectOnOthers } from '../../storage/queue/multitask.ts';
import type { RunQueue } from '../../storage/queue/queue.ts';
import type { Cargo } from '../../storage/riders.ts';
import type { Ttl } from '../../storage/threads/row.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { checkRecursionLimit, checkRunLimits, type RunLimits } from '../assistants/run-config.ts';
import type { WebhookPolicy } from '../webhooks/webhook-policy.ts';
import { announceEnded } from './cancel.ts';
import { type RunContext, runKwargs, runMarkers, runMetadata, threadMetadata } from './run-options.ts';

export interface AuthorizeRunDeps {
  readonly ids: Ids;
  readonly assistants: AssistantService;
}

/** A run that its actor may create. */
export interface AuthorizedRun {
  readonly run_id: string;
  /** After authorization handlers have modified it. */
  readonly input: RunCreate;
  /** Which existing threads may take it. */
  readonly visibility: Visibility | undefined;
}

/**
 * Authorizes creating the run (contract §10 `create_run`). Rules see the request as `kwargs` and may modify it, and
 * `metadata` too. `thread_id` is `null` for a run that creates its own thread.
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

export interface SubmitDeps extends RunLimits {
  readonly queue: RunQueue;
  readonly bus: EventBus;
  readonly clock: Clock;
  /** Which URLs may be notified of a run's end. */
  readonly webhooks: WebhookPolicy;
  /** Retention of an ended run's event log, ms. */
  readonly log_retention_ms: number;
  /** TTL of threads created by runs; `undefined` means no expiry. */
  readonly default_ttl: Ttl | undefined;
}

/** Maximum length of an assistant name in traces; longer names are truncated, characters. */
const MAX_AGENT_NAME = 256;

/** An interrupt that is not answered within a day is deleted with its thread. */
const INTERRUPTED_TTL: Ttl = { strategy: 'delete', ttl: 24 * 60 };

/** A client's request with what the server derived from it. */
export interface Submission extends Omit<RunContext, 'run_id' | 'now_ms'>, AuthorizedRun {
  readonly cargo?: Cargo | undefined;
  /** The answer that the request gives if its thread is interrupted. */
  readonly answer?: NewAnswer | undefined;
}

/**
 * Enqueues a run and notifies the workers and the thread's other runs. Throws `InvalidInput` for a forbidden
 * webhook or limits above the server's, and what riders refuse it with.
 */
export async function submit(deps: SubmitDeps, submission: Submission): Promise<Run> {
  await checkWebhook(deps, submission.input);
  const request = newRun(deps, submission);
  return confirmSubmission(deps, request, await deps.queue.enqueue(request));
}

/** Notifies workers and the thread's other runs of an enqueued run; throws if it was not enqueued. */
export function confirmSubmission(deps: SubmitDeps, request: NewRun, outcome: EnqueueResult): Run {
  notify(deps, request, requireQueued(outcome, request));
  return request.run;
}

/** Several runs, each on its own thread, in one transaction. */
export async function submitAll(deps: SubmitDeps, submissions: readonly Submission[]): Promise<Run[]> {
  for (const { input } of submissions) await checkWebhook(deps, input);
  const requests = submissions.map((submission) => newRun(deps, submission));
  const outcomes = await deps.queue.enqueueAll(requests);
  return requests.map((request, i) => confirmSubmission(deps, request, outcomes[i] as EnqueueResult));
}

/** Id of the API key whose usage the run counts as. */
function chargedKey({ key, token_key }: Actor): string | undefined {
  return key ?? token_key;
}

/** Throws `InvalidInput` for a forbidden URL, even if webhooks are disabled (contract §6). */
export async function checkWebhook(
  { webhooks }: Pick<SubmitDeps, 'webhooks'>,
  { webhook }: Pick<RunCreate, 'webhook'>,
): Promise<void> {
  if (typeof webhook === 'string') await webhooks.check(webhook);
}

function requireQueued(outcome: EnqueueResult, { run }: NewRun): QueuedResult {
  if (outcome.outcome === 'rejected') throw threadBusy(run.thread_id, outcome.blocking);
  if (outcome.outcome === 'missing thread') throw new NotFound('Thread or assistant not found.');
  if (outcome.outcome === 'refused') throw outcome.refusal;
  if (outcome.outcome === 'run exists') throw new Conflict(`Run ${run.run_id} already exists`);
  return outcome;
}

/** 409 for strategy `reject`; the first sentence is part of the contract. */
function threadBusy(thread_id: string, blocking: readonly string[]): Conflict {
  return new Conflict(
    'Thread is already running a task. Wait for it to finish or choose a different multitask strategy. ' +
      blockedBy(thread_id, blocking),
  );
}

/** 409 for a state update while runs are in flight. */
export function threadStateBusy(thread_id: string, blocking: readonly string[]): Conflict {
  return new Conflict(
    `Thread ${thread_id} has runs that are pending or running. ${blockedBy(thread_id, blocking)}`,
  );
}

/** Lists the blocking runs and how to cancel the first. */
function blockedBy(thread_id: string, blocking: readonly string[]): string {
  const [first] = blocking;
  return (
    `Blocked by run ${blocking.join(', ')}. ` +
    `Cancel it with POST /threads/${thread_id}/runs/${first}/cancel, or see GET /runs/${first}/explain.`
  );
}

function notify({ bus }: SubmitDeps, { run, order }: NewRun, queued: QueuedResult): void {
  const { stopping, ended, ready } = queued;
  for (const run_id of [run.run_id, ...stopping, ...ended]) bus.emit('row.changed', 'run', run_id);
  bus.emit('row.changed', 'thread', run.thread_id);
  for (const run_id of stopping) bus.emit('run.cancelled', run_id);
  announceEnded(bus, run.thread_id, queued);
  if (ready) bus.emit('run.ready');
  if (order?.delay_ms) bus.emit('schedule.changed');
}

/** The row to store and the parameters of the enqueue. Throws `InvalidInput` as `submit` does. */
export function newRun(deps: SubmitDeps, { input, cargo, answer, visibility, ...rest }: Submission): NewRun {
  const { clock, log_retention_ms, default_ttl } = deps;
  checkRunLimits(deps, input.config);
  const context = { ...rest, now_ms: clock.now() };
  const { assistant, thread_id, run_id, now_ms, temporary, keep_interrupted } = context;
  const kwargs = runKwargs(input, context);
  // An assistant may predate the server's limit.
  const ofAssistant = `config.recursion_limit of assistant ${assistant.assistant_id}`;
  checkRecursionLimit(deps, kwargs.config, ofAssistant);
  const delay_ms = Math.max(0, Math.round((input.after_seconds ?? 0) * 1000));
  const strategy = input.multitask_strategy ?? 'enqueue';
  // A delayed run reports its due time as `created_at` (contract §3).
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
    markers: runMarkers(input, context),
    agent: { assistant_name: assistant.name.slice(0, MAX_AGENT_NAME), assistant_version: assistant.version },
    thread: {
      if_missing: makesThread ? newThread(run, assistant) : undefined,
      ttl: keep_interrupted ? INTERRUPTED_TTL : default_ttl,
      visibility,
    },
    order: { delay_ms, priority: input.priority ?? 0, owner: rest.actor.principal },
    cargo,
    answer,
    key_id: chargedKey(rest.actor),
    has_client_id: input.run_id === run_id,
    others: effectOnOthers(strategy, run_id, log_retention_ms),
  };
}

function newThread(run: Run, { graph_id, assistant_id }: Assistant): Thread {
  return {
    thread_id: run.thread_id,
    created_at: run.updated_at,
    updated_at: run.updated_at,
    metadata: threadMetadata(run.metadata, graph_id, assistant_id),
    status: 'busy',
    config: {},
    values: null,
  };
}
