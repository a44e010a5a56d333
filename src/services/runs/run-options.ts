import type { Actor } from '../../auth/actor.ts';
import { isServerInterrupt } from '../../core/interrupt-ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { CALLER_SPAN, traceparentOf } from '../../core/trace-ids.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import type { RunCreate, RunKwargs } from '../../schemas/runs.ts';
import type { StreamMode } from '../../schemas/stream-mode.ts';
import type { Thread } from '../../schemas/threads.ts';
import type { NewAnswer } from '../../storage/queue/accept-answer.ts';
import type { RunMarkers } from '../../storage/runs/markers.ts';
import { mergeLimits, syncConfigurable } from '../assistants/run-config.ts';

/**
 * How a client waits for its run; `wait` always needs the mode `values`. `events`: it follows the thread by event
 * streaming (contract §7).
 */
export type RunKind = 'background' | 'stream' | 'wait' | 'events';

/** Marks a run of kind `events` for graphs and clients (contract §7); the server reads `RunMarkers`. */
const EVENT_STREAMING = '__event_streaming_v2';

export interface RunContext {
  readonly actor: Actor;
  readonly assistant: Assistant;
  readonly thread_id: string;
  readonly run_id: string;
  readonly kind: RunKind;
  /** The run creates its own thread (stateless). */
  readonly temporary: boolean;
  /** Retains that thread while an interrupt is pending. */
  readonly keep_interrupted?: boolean;
  /** Epoch ms of the request. */
  readonly now_ms: number;
  readonly thread_metadata: JsonObject;
  /** The cron that creates the run, in `configurable` and `context` (contract §11). */
  readonly cron_id?: string | undefined;
}

/**
 * Merges assistant, thread and request into the stored kwargs (contract §3 "Merging into run kwargs"). Throws
 * `BadRequest` if the request sends both `configurable` and `context`.
 */
export function runKwargs(input: RunCreate, run: RunContext): RunKwargs {
  const { assistant } = run;
  const { config, context } = syncConfigurable(input.config ?? {}, input.context ?? {});
  return {
    input: input.input ?? null,
    command: input.command ?? null,
    ...(input.strict_resume ? { strict_resume: true } : {}),
    config: {
      ...assistant.config,
      ...config,
      ...mergeLimits(assistant.config, config),
      configurable: {
        // Without authentication the user id can only come from the client.
        user_id: '',
        ...withoutCaller({ ...assistant.config.configurable, ...config.configurable }),
        ...checkpointOf(input),
        ...serverConfigurable(run, input.after_seconds ?? 0),
      },
      metadata: runMetadata(input, run),
    },
    context: { ...assistant.context, ...context, ...cronOf(run) },
    stream_mode: streamModes(input.stream_mode, run.kind),
    interrupt_before: input.interrupt_before ?? null,
    interrupt_after: input.interrupt_after ?? null,
    webhook: input.webhook ?? null,
    feedback_keys: input.feedback_keys ?? null,
    temporary: run.temporary,
    subgraphs: input.stream_subgraphs ?? false,
    resumable: input.stream_resumable ?? false,
    checkpoint_during: durabilityOf(input) !== 'exit',
    durability: durabilityOf(input),
    ...(run.temporary ? { on_completion: input.on_completion ?? 'delete' } : {}),
  };
}

/** Assistant ⊕ thread ⊕ `config.metadata` ⊕ request, plus the graph and assistant ids (contract §2.3). */
export function runMetadata(
  input: RunCreate,
  { assistant, thread_metadata, temporary, cron_id }: RunContext,
): JsonObject {
  const configMetadata = input.config?.['metadata'];
  const {
    run_id: _run,
    thread_id: _thread,
    ...asked
  } = { ...(configMetadata as JsonObject), ...input.metadata };
  return {
    ...assistant.metadata,
    ...thread_metadata,
    ...(temporary ? {} : { graph_id: assistant.graph_id }),
    ...asked,
    assistant_id: assistant.assistant_id,
    ...cronOf({ cron_id }),
  };
}

/** Metadata of a thread that a run creates (contract §3 `if_not_exists`). */
export function threadMetadata(run_metadata: JsonObject, graph_id: string, assistant_id: string): JsonObject {
  return { ...run_metadata, graph_id, assistant_id };
}

/** The server's own attributes of the run; `config` and `context` cannot change them. */
export function runMarkers(
  { on_completion }: Pick<RunCreate, 'on_completion'>,
  run: Pick<RunContext, 'kind' | 'temporary' | 'keep_interrupted' | 'cron_id'>,
): RunMarkers {
  return {
    is_event_streaming: run.kind === 'events',
    is_of_cron: run.cron_id !== undefined,
    thread_retention: threadRetention(on_completion, run),
  };
}

function threadRetention(
  on_completion: RunCreate['on_completion'],
  { temporary, keep_interrupted }: Pick<RunContext, 'temporary' | 'keep_interrupted'>,
): RunMarkers['thread_retention'] {
  if (!temporary) return 'keep';
  if (keep_interrupted) return 'keep_interrupted';
  return on_completion === 'keep' ? 'keep' : 'delete';
}

function cronOf({ cron_id }: Pick<RunContext, 'cron_id'>): JsonObject {
  return cron_id === undefined ? {} : { cron_id };
}

function durabilityOf(input: RunCreate): RunKwargs['durability'] {
  return input.durability ?? (input.checkpoint_during === false ? 'exit' : 'async');
}

function streamModes(requested: RunCreate['stream_mode'], kind: RunKind): StreamMode[] {
  const modes = typeof requested === 'string' ? [requested] : (requested ?? []);
  if (modes.length === 0) return ['values'];
  return kind === 'wait' && !modes.includes('values') ? [...modes, 'values'] : [...new Set(modes)];
}

/** Checkpoint to resume from; older clients send only its id. */
function checkpointOf(input: RunCreate): JsonObject {
  const { id, ns } = checkpointPlace(input);
  const { checkpoint_map } = input.checkpoint ?? {};
  return {
    ...(id ? { checkpoint_id: id } : {}),
    ...(ns ? { checkpoint_ns: ns } : {}),
    ...(checkpoint_map ? { checkpoint_map } : {}),
  };
}

/** Where the run starts, in any of the spellings; LangGraph's own is in `configurable`. */
export function checkpointPlace({ checkpoint, checkpoint_id, config }: RunCreate): {
  readonly id: string | undefined;
  readonly ns: string | undefined;
} {
  const given = config?.configurable ?? {};
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    id: checkpoint?.checkpoint_id ?? checkpoint_id ?? text(given['checkpoint_id']),
    ns: checkpoint?.checkpoint_ns ?? text(given['checkpoint_ns']),
  };
}

/** Keys that clients cannot set; they override everything else. */
function serverConfigurable(run: RunContext, after_seconds: number): JsonObject {
  const { user, request_id, protocol, headers, trace } = run.actor;
  return {
    ...headers,
    run_id: run.run_id,
    thread_id: run.thread_id,
    graph_id: run.assistant.graph_id,
    assistant_id: run.assistant.assistant_id,
    ...callerConfigurable(user),
    langgraph_request_id: request_id,
    ...(trace && traceContext(run.run_id, trace)),
    ...(protocol ? { protocol } : {}),
    __request_start_time_ms__: run.now_ms,
    __after_seconds__: after_seconds,
    ...cronOf(run),
    ...(run.kind === 'events' ? { [EVENT_STREAMING]: true } : {}),
  };
}

/** The caller's identity, under the keys that graph code reads. */
export function callerConfigurable(user: Actor['user']): JsonObject {
  return {
    ...(user ? { user_id: user.identity } : {}),
    langgraph_auth_user: user,
    langgraph_auth_user_id: user?.identity ?? '',
    langgraph_auth_permissions: user?.permissions ?? [],
  };
}

/** Drops a caller span that the configuration names: only the request sets it. */
function withoutCaller({ [CALLER_SPAN]: _named, ...configurable }: JsonObject): JsonObject {
  return configurable;
}

/** The run's own span for graph code to propagate, and the caller's span for readers of the run. */
function traceContext(run_id: string, { traceparent, tracestate }: NonNullable<Actor['trace']>): JsonObject {
  const caller = { [CALLER_SPAN]: traceparent };
  return { ...caller, traceparent: traceparentOf(run_id, caller), ...(tracestate && { tracestate }) };
}

/**
 * The answer that a request gives to pending interrupts; `undefined` for an input, or a command without
 * `resume`. A request that only continues the thread answers an interrupt of the server.
 */
export function answerOf({ user }: Actor, request: RunCreate): NewAnswer | undefined {
  const { input, command, strict_resume } = request;
  const { resume, update, goto } = command ?? {};
  const goesOn = [input, update, goto].every((each) => (each ?? undefined) === undefined);
  if ((resume ?? undefined) === undefined && !goesOn) return undefined;
  return {
    resume: resume ?? undefined,
    checkpoint: checkpointPlace(request),
    is_strict: strict_resume === true,
    user_id: user?.identity ?? null,
  };
}

/** Drops a `resume` that only answers the server: any answer continues the run, and the graph must not see it. */
export function withoutServerAnswer(
  input: RunCreate,
  { interrupts = {} }: Pick<Thread, 'interrupts'>,
): RunCreate {
  const pending = Object.values(interrupts).flat();
  if (pending.length === 0 || !pending.every(({ id }) => isServerInterrupt(id))) return input;
  const { resume: _, ...more } = input.command ?? {};
  const isOnlyAnswer = Object.values(more).every((value) => value === undefined || value === null);
  return { ...input, command: isOnlyAnswer ? null : more };
}
