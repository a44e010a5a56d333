import type { Actor } from '../../auth/actor.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { Frame } from '../../events/frame.ts';
import type { Run, RunCreate } from '../../schemas/runs.ts';
import type { Interrupt } from '../../schemas/threads.ts';
import { failureOf } from '../run-failure.ts';
import type { RunService } from '../runs.ts';
import type { StatelessRunService } from '../stateless-runs.ts';
import { threadOfName } from '../thread-alias.ts';
import type { ThreadService } from '../threads.ts';
import type { AssistantTool } from './tools.ts';

export interface ToolCallDeps {
  readonly runs: Pick<RunService, 'create' | 'follow' | 'abandon'>;
  readonly statelessRuns: Pick<StatelessRunService, 'createAnswerable'>;
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
export type ToolNews =
  | { readonly kind: 'nodes'; readonly names: readonly string[] }
  | { readonly kind: 'custom'; readonly data: JsonObject };

export type ToolCalls = ReturnType<typeof toolCalls>;

/** Calls of assistants as tools: each is a run like any other. */
export function toolCalls({ runs, statelessRuns, threads }: ToolCallDeps) {
  return {
    /** `{"resume": …}` alone, on a thread, answers what it waits for. */
    start(actor: Actor, { assistant }: AssistantTool, call: ToolCall): Promise<Run> {
      const { resume, ...others } = call.arguments;
      const input = runInput(assistant.assistant_id, call);
      if (call.conversation === undefined) {
        return statelessRuns.createAnswerable(actor, { ...input, input: inputOf(call.arguments) }, 'stream');
      }
      const thread_id = threadOfName(actor, call.conversation);
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
    async outcome(run: Run, onNews: (news: ToolNews) => void, signal: AbortSignal): Promise<ToolOutcome> {
      return outcomeOf(runs.follow(run, signal), onNews);
    },

    /** The memory of a call that stood for itself and is answered. */
    async forget(actor: Actor, thread_id: string): Promise<void> {
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
function inputOf(given: JsonObject): JsonObject {
  const { messages } = given;
  return typeof messages === 'string' ? { ...given, messages: [{ role: 'user', content: messages }] } : given;
}

async function outcomeOf(
  frames: AsyncIterable<Frame>,
  onNews: (news: ToolNews) => void,
): Promise<ToolOutcome> {
  let values: JsonObject = {};
  for await (const { event, data } of frames) {
    const value: unknown = JSON.parse(data);
    if (event === 'error') return { kind: 'failed', message: failureOf(value) };
    if (!isObject(value)) continue;
    if (event === 'values') values = value;
    // An interrupt comes like a node, and is told of at the end.
    const names = event === 'updates' ? Object.keys(value).filter((name) => name !== '__interrupt__') : [];
    if (names.length > 0) onNews({ kind: 'nodes', names });
    if (event === 'custom') onNews({ kind: 'custom', data: value });
  }
  const { __interrupt__: interrupts, ...rest } = values;
  if (!Array.isArray(interrupts) || interrupts.length === 0) return { kind: 'values', values: rest };
  return { kind: 'interrupted', values: rest, interrupts: interrupts as Interrupt[] };
}
