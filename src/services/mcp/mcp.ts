import type { Actor } from '../../auth/actor.ts';
import type { Ids } from '../../core/ids.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { lazy } from '../../core/lifecycle.ts';
import type { EventBus } from '../../events/bus.ts';
import type { Frame } from '../../events/frame.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import type { ServerSecretRepository } from '../../storage/access/server-secrets.ts';
import { ASSISTANTS_CHANGED } from '../assistants/assistant-versions.ts';
import type { AssistantService } from '../assistants/assistants.ts';
import { runErrorMessage } from '../runs/run-result.ts';
import type { RunService } from '../runs/runs.ts';
import type { StatelessRunService } from '../runs/stateless-runs.ts';
import { type ThreadService, threadIdFromName } from '../threads/threads.ts';
import { type AssistantTool, toolCatalog } from './tools.ts';

export interface McpDeps extends ToolCallDeps {
  readonly assistants: AssistantService;
  readonly threads: Pick<ThreadService, 'get' | 'delete'>;
  readonly secrets: ServerSecretRepository;
  readonly ids: Ids;
  readonly bus: Pick<EventBus, 'onUpdated'>;
}

export type McpService = ReturnType<typeof mcpService>;

/** Assistants as tools, and calls of them as runs. */
export function mcpService(deps: McpDeps) {
  return {
    ...toolCatalog(deps),
    ...toolCalls(deps),

    /** What the thread waits for. Throws `NotFound`. */
    async interrupts(actor: Actor, thread_id: string): Promise<Interrupt[]> {
      const { interrupts = {} } = await deps.threads.get(actor, thread_id);
      return Object.values(interrupts).flat();
    },

    /** Signs what clients carry from a question to its answer; the same on every process. */
    stateKey: lazy(() => deps.secrets.getOrCreate('mcp', deps.ids.secret())),

    /** An assistant was made, changed or deleted, here or on another process. */
    onToolsChanged(listener: () => void): Disposable {
      return deps.bus.onUpdated(ASSISTANTS_CHANGED, listener);
    },
  };
}

export interface ToolCallDeps {
  readonly runs: Pick<RunService, 'create' | 'follow' | 'abandon'>;
  readonly statelessRuns: Pick<StatelessRunService, 'createInterruptible'>;
  readonly threads: Pick<ThreadService, 'delete'>;
}

export interface ToolCall {
  readonly arguments: JsonObject;
  /** What the nodes see as context. */
  readonly context?: JsonObject | undefined;
  /** The name of the memory; without one the call stands for itself. */
  readonly conversation?: string | undefined;
}

/** How a call ended. */
export type ToolOutcome =
  | { readonly kind: 'values'; readonly values: JsonObject }
  | { readonly kind: 'interrupted'; readonly values: JsonObject; readonly interrupts: readonly Interrupt[] }
  | { readonly kind: 'failed'; readonly message: string };

/** What happens on the way: a node has finished, or the graph says something itself (a custom event). */
export type ToolProgress =
  | { readonly kind: 'nodes'; readonly names: readonly string[] }
  | { readonly kind: 'custom'; readonly data: JsonObject };

/** Calls of assistants as tools: each is a run like any other. */
function toolCalls({ runs, statelessRuns, threads }: ToolCallDeps) {
  return {
    /** `{"resume": …}` alone, on a thread, answers what it waits for. */
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

    /** Goes on with a call that stopped at interrupts; `answers` by their ids. */
    resume(
      actor: Actor,
      { assistant }: AssistantTool,
      call: Pick<ToolCall, 'context'> & { thread_id: string; answers: JsonObject },
    ): Promise<Run> {
      const input = runInput(assistant.assistant_id, call);
      const command = { resume: call.answers };
      return runs.create(actor, call.thread_id, { ...input, command, strict_resume: true }, 'stream');
    },

    /** Follows a run to its end and tells of what happens on the way. */
    async outcome(
      run: Run,
      onProgress: (progress: ToolProgress) => void,
      signal: AbortSignal,
    ): Promise<ToolOutcome> {
      return outcomeOf(runs.follow(run, signal), onProgress);
    },

    /** The memory of a call that stood for itself and is answered. */
    async deleteThread(actor: Actor, thread_id: string): Promise<void> {
      await threads.delete(actor, thread_id);
    },

    /** Stops a run that nobody waits for. */
    abandon: runs.abandon,
  };
}

function runInput(assistant_id: string, { context }: Pick<ToolCall, 'context'>): RunCreate {
  return {
    assistant_id,
    stream_mode: ['values', 'updates', 'custom'],
    context,
  };
}

/** One string stands for a list of messages. */
function inputOf(args: JsonObject): JsonObject {
  const { messages } = args;
  return typeof messages === 'string' ? { ...args, messages: [{ role: 'user', content: messages }] } : args;
}

async function outcomeOf(
  frames: AsyncIterable<Frame>,
  onProgress: (progress: ToolProgress) => void,
): Promise<ToolOutcome> {
  let values: JsonObject = {};
  for await (const { event, data } of frames) {
    const value: unknown = JSON.parse(data);
    if (event === 'error') return { kind: 'failed', message: runErrorMessage(value) };
    if (!isObject(value)) continue;
    if (event === 'values') values = value;
    // An interrupt comes like a node, and is told of at the end.
    const names = event === 'updates' ? Object.keys(value).filter((name) => name !== '__interrupt__') : [];
    if (names.length > 0) onProgress({ kind: 'nodes', names });
    if (event === 'custom') onProgress({ kind: 'custom', data: value });
  }
  const { __interrupt__: interrupts, ...rest } = values;
  if (!Array.isArray(interrupts) || interrupts.length === 0) return { kind: 'values', values: rest };
  return { kind: 'interrupted', values: rest, interrupts: interrupts as Interrupt[] };
}
