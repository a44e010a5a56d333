import type { Actor } from '../../auth/actor.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Assistant } from '../../schemas/assistants.ts';
import type { RunCreate, RunKwargs } from '../../schemas/runs.ts';
import type { StreamMode } from '../../schemas/stream-mode.ts';
import type { RunMarkers } from '../../storage/runs/markers.ts';
import { syncConfigurable } from '../assistants/run-config.ts';

/**
 * How a client waits for its run; a waiting one needs the `values` whatever modes it asked for. `events`: it follows
 * the thread by event streaming (CONTRACT §7).
 */
export type RunKind = 'background' | 'stream' | 'wait' | 'events';

/** Shows graphs and clients a run of kind `events` (CONTRACT §7); the server reads `RunMarkers`. */
const EVENT_STREAMING = '__event_streaming_v2';

export interface RunContext {
  readonly actor: Actor;
  readonly assistant: Assistant;
  readonly thread_id: string;
  readonly run_id: string;
  readonly kind: RunKind;
  /** The run made its own thread (stateless). */
  readonly temporary: boolean;
  /** That thread stays while an interrupt waits for its answer. */
  readonly keep_interrupted?: boolean;
  /** Epoch ms of the request. */
  readonly now_ms: number;
  readonly thread_metadata: JsonObject;
  /** The cron that makes the run; its graph sees it in `configurable` and `context` (CONTRACT §11). */
  readonly cron_id?: string | undefined;
}

/**
 * Merges assistant, thread and request into what the run is stored with (CONTRACT §3 "Merging into run kwargs").
 * Throws `BadRequest` when the request gives both `configurable` and `context`.
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
      configurable: {
        // Without authentication, who the user is can only be what the client says.
        user_id: '',
        ...assistant.config.configurable,
        ...config.configurable,
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

/** Assistant ⊕ thread ⊕ `config.metadata` ⊕ request, and which graph and assistant it is (CONTRACT §2.3). */
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

/** Always the server's own choice: it wins over a `graph_id` of the client. */
export function graphIdOf({ config }: Pick<RunKwargs, 'config'>): string {
  return String(config.configurable['graph_id']);
}

/** What the server decides about the run; nothing in `config` or `context` changes it. */
export function runMarkers(
  { on_completion }: Pick<RunCreate, 'on_completion'>,
  run: Pick<RunContext, 'kind' | 'temporary' | 'keep_interrupted' | 'cron_id'> & { is_of_task: boolean },
): RunMarkers {
  return {
    is_event_streaming: run.kind === 'events',
    is_of_cron: run.cron_id !== undefined,
    is_of_task: run.is_of_task,
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

/** Where to continue from: the whole checkpoint, or its id alone from older clients. */
function checkpointOf(input: RunCreate): JsonObject {
  const { checkpoint_id, checkpoint_ns, checkpoint_map } = input.checkpoint ?? {};
  const id = checkpoint_id ?? input.checkpoint_id;
  return {
    ...(id ? { checkpoint_id: id } : {}),
    ...(checkpoint_ns ? { checkpoint_ns } : {}),
    ...(checkpoint_map ? { checkpoint_map } : {}),
  };
}

/** What a client may not choose; it wins over everything else. */
function serverConfigurable(run: RunContext, after_seconds: number): JsonObject {
  const { user, request_id, protocol, headers } = run.actor;
  return {
    ...headers,
    run_id: run.run_id,
    thread_id: run.thread_id,
    graph_id: run.assistant.graph_id,
    assistant_id: run.assistant.assistant_id,
    ...(user ? { user_id: user.identity } : {}),
    langgraph_auth_user: user,
    langgraph_auth_user_id: user?.identity ?? '',
    langgraph_auth_permissions: user?.permissions ?? [],
    langgraph_request_id: request_id,
    ...(protocol ? { protocol } : {}),
    __request_start_time_ms__: run.now_ms,
    __after_seconds__: after_seconds,
    ...cronOf(run),
    ...(run.kind === 'events' ? { [EVENT_STREAMING]: true } : {}),
  };
}
