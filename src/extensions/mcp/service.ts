import type { Actor } from '../../auth/actor.ts';
import type { Ids } from '../../core/ids.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { lazy } from '../../core/lifecycle.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Frame } from '../../events/frame.ts';
import type { GraphRegistry } from '../../graphs/graph.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { ASSISTANTS_CHANGED } from '../../services/assistants/assistant-versions.ts';
import type { AssistantService } from '../../services/assistants/assistants.ts';
import { runErrorMessage } from '../../services/runs/run-result.ts';
import type { RunService } from '../../services/runs/runs.ts';
import type { StatelessRunService } from '../../services/runs/stateless-runs.ts';
import { type ThreadService, threadIdFromName } from '../../services/threads/threads.ts';
import type { ServerSecretRepository } from '../../storage/access/server-secrets.ts';
import { type AssistantTool, toolCatalog } from './tools.ts';

const CANCELLED = 'mcp/call_cancelled';

export interface McpDeps extends ToolCallDeps {
  readonly assistants: AssistantService;
  readonly graphs: GraphRegistry;
  readonly threads: ThreadService;
  readonly secrets: ServerSecretRepository;
  readonly ids: Ids;
  readonly bus: EventBus;
}

export type McpService = ReturnType<typeof mcpService>;

/** MCP: assistants are tools, and each tool call is a run. */
export function mcpService(deps: McpDeps) {
  return {
    ...toolCatalog(deps),
    ...toolCalls(deps),

    /** Pending interrupts of the thread. Throws `NotFound`. */
    async interrupts(actor: Actor, thread_id: string): Promise<Interrupt[]> {
      const { interrupts = {} } = await deps.threads.get(actor, thread_id);
      return Object.values(interrupts).flat();
    },

    /** Signs the state that clients carry from an interrupt to its answer; the same key on every process. */
    stateKey: lazy(() => deps.secrets.getOrCreate('mcp', deps.ids.secret())),

    /** Cancels a call, on whichever process executes it. `key`: any text that names the call, of a few bytes. */
    cancelCall: (key: string): void => deps.bus.emit('extension.event', CANCELLED, key),

    /** Notifies of cancelled calls by their keys. */
    onCallCancelled: (listener: (key: string) => void): Disposable =>
      deps.bus.on('extension.event', (name, key) => {
        if (name === CANCELLED) listener(key);
      }),

    /** Notifies of assistants created, updated or deleted on any process. */
    onToolsChanged(listener: () => void): Disposable {
      return deps.bus.onUpdated(ASSISTANTS_CHANGED, listener);
    },
  };
}

export interface ToolCallDeps {
  readonly runs: RunService;
  readonly statelessRuns: StatelessRunService;
  readonly threads: ThreadService;
}

export interface ToolCall {
  readonly arguments: JsonObject;
  /** Runtime context of the nodes. */
  readonly context?: JsonObject | undefined;
  /** Name of a persistent thread; without it the call is stateless. */
  readonly conversation?: string | undefined;
}

/** Outcome of a tool call. */
export type ToolOutcome =
  | { readonly kind: 'values'; readonly values: JsonObject }
  | { readonly kind: 'interrupted'; readonly values: JsonObject; readonly interrupts: readonly Interrupt[] }
  /** `is_refusal`: the interrupt still waits for another answer. */
  | { readonly kind: 'failed'; readonly message: string; readonly is_refusal: boolean };

/** Progress of a call: finished nodes, or a custom event of the graph. */
export type ToolProgress =
  | { readonly kind: 'nodes'; readonly names: readonly string[] }
  | { readonly kind: 'custom'; readonly data: JsonObject };

/** Tool calls; each is an ordinary run. */
function toolCalls({ runs, statelessRuns, threads }: ToolCallDeps) {
  return {
    /** With a conversation, `{"resume": …}` as the only argument resumes the interrupted thread. */
    start(actor: Actor, { assistant }: AssistantTool, call: ToolCall): Promise<Run> {
      const { resume, ...others } = call.arguments;
      const input = runInput(assistant.assistant_id, call);
      if (call.conversation === undefined) {
        return statelessRuns.createInterruptible(
          actor,
          { ...input, input: inputOf(call.arguments) },
          'stream',
        );
      }
      const thread_id = threadIdFromName(actor, call.conversation);
      const isAnswer = resume !== undefined && Object.keys(others).length === 0;
      const turn = isAnswer ? { command: { resume } } : { input: inputOf(call.arguments) };
      return runs.create(actor, thread_id, { ...input, ...turn, if_not_exists: 'create' }, 'stream');
    },

    /** Resumes an interrupted call; `answers` by interrupt id. */
    resume(
      actor: Actor,
      { assistant }: AssistantTool,
      call: Pick<ToolCall, 'context'> & { thread_id: string; answers: JsonObject },
    ): Promise<Run> {
      const input = runInput(assistant.assistant_id, call);
      const command = { resume: call.answers };
      return runs.create(actor, call.thread_id, { ...input, command, strict_resume: true }, 'stream');
    },

    /** Follows a run to its end and reports progress. */
    async outcome(
      run: Run,
      onProgress: (progress: ToolProgress) => void,
      signal: AbortSignal,
    ): Promise<ToolOutcome> {
      return outcomeOf(runs.follow(run, signal), onProgress);
    },

    /** Deletes the thread of a stateless call that has been answered. */
    async deleteThread(actor: Actor, thread_id: string): Promise<void> {
      await threads.delete(actor, thread_id);
    },

    /** Cancels a run that no client waits for. */
    abandon: (run: Run): Promise<void> => runs.abandon(run),
  };
}

function runInput(assistant_id: string, { context }: Pick<ToolCall, 'context'>): RunCreate {
  return {
    assistant_id,
    stream_mode: ['values', 'updates', 'custom'],
    context,
  };
}

/** A string is shorthand for one user message. */
function inputOf(args: JsonObject): JsonObject {
  const { messages } = args;
  return typeof messages === 'string' ? { ...args, messages: [{ role: 'user', content: messages }] } : args;
}

async function outcomeOf(
  frames: AsyncIterable<Frame>,
  onProgress: (progress: ToolProgress) => void,
): Promise<ToolOutcome> {
  let values: JsonObject = {};
  let failed: ToolOutcome | undefined;
  for await (const { event, data } of frames) {
    const value: unknown = JSON.parse(data);
    if (event === 'error') {
      const is_refusal = isObject(value) && value['reason'] !== undefined;
      failed = { kind: 'failed', message: runErrorMessage(value), is_refusal };
    }
    if (!isObject(value)) continue;
    if (event === 'values') {
      values = value;
      // The error only reported lost events, and this state replaces them.
      failed = undefined;
    }
    // `__interrupt__` appears like a node; it is reported in the outcome.
    const names = event === 'updates' ? Object.keys(value).filter((name) => name !== '__interrupt__') : [];
    if (names.length > 0) onProgress({ kind: 'nodes', names });
    if (event === 'custom') onProgress({ kind: 'custom', data: value });
  }
  // Only at the end of the run does its thread have its final status.
  if (failed) return failed;
  const { __interrupt__: interrupts, ...rest } = values;
  if (!Array.isArray(interrupts) || interrupts.length === 0) return { kind: 'values', values: rest };
  return { kind: 'interrupted', values: rest, interrupts: interrupts as Interrupt[] };
}
