import { publicFailure, tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { RunError } from '../../schemas/threads.ts';
import type { GraphEvent } from '../graph.ts';
import { isBubbleUp } from './task-failures.ts';

type Namespace = readonly string[];

/** What the callbacks of a graph inside the graph reported. */
interface Call {
  namespace: Namespace;
  readonly tool_call_id?: string | undefined;
  error?: RunError;
}

/** Chunks that a graph sends itself; LangGraph before 1.7 sends others under the task that caused them. */
const GRAPH_MODES = new Set(['values', 'updates', 'tasks', 'checkpoints', 'debug']);

/**
 * Mode `lifecycle`: when each graph inside the graph starts and ends, in the form of the JavaScript SDK
 * (`LifecycleStreamEvent`). LangGraph has no such mode: chunks give the order of the events, and as a LangChain callback
 * handler it learns which graphs failed, also those whose error their caller caught, and which tool calls started them.
 */
export class SubgraphLifecycle {
  readonly name = 'SubgraphLifecycle';
  /** Before the chunks that the graph sends. */
  readonly awaitHandlers = true;
  readonly #emit: (event: GraphEvent) => void;
  /** The innermost tool call around a run of LangChain, up to the next graph. */
  readonly #toolCalls = new Map<string, string>();
  /** By run, and by namespace. */
  readonly #runs = new Map<string, Call>();
  readonly #calls = new Map<string, Call>();
  /** How many graphs each task has called. */
  readonly #counts = new Map<string, number>();
  readonly #open = new Map<string, Namespace>();

  constructor(emit: (event: GraphEvent) => void) {
    this.#emit = emit;
  }

  readonly handleChainStart = (
    chain: unknown,
    _inputs: unknown,
    runId: string,
    parentRunId?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
  ): void => {
    const tool_call_id = this.#toolCalls.get(parentRunId ?? '');
    const task = metadata?.['langgraph_checkpoint_ns'];
    if (!isGraph(chain) || typeof task !== 'string' || task === '') {
      if (tool_call_id !== undefined) this.#toolCalls.set(runId, tool_call_id);
      return;
    }
    const count = this.#counts.get(task) ?? 0;
    this.#counts.set(task, count + 1);
    // As LangGraph names the second and each further graph that a task calls.
    const namespace = [...task.split('|'), ...(count > 0 ? [String(count)] : [])];
    const call = { namespace, tool_call_id };
    this.#runs.set(runId, call);
    this.#calls.set(keyOf(namespace), call);
  };

  readonly handleToolStart = (
    _tool: unknown,
    _input: unknown,
    runId: string,
    parentRunId?: string,
    _tags?: string[],
    _metadata?: Record<string, unknown>,
    _runName?: string,
    toolCallId?: string,
  ): void => {
    const tool_call_id = toolCallId ?? this.#toolCalls.get(parentRunId ?? '');
    if (tool_call_id !== undefined) this.#toolCalls.set(runId, tool_call_id);
  };

  readonly handleChainError = (error: unknown, runId: string): void => {
    const call = this.#runs.get(runId);
    if (call && !isBubbleUp(error)) call.error = publicFailure(error);
    this.handleChainEnd(undefined, runId);
  };

  readonly handleChainEnd = (_outputs: unknown, runId: string): void => {
    this.#runs.delete(runId);
    this.#toolCalls.delete(runId);
  };

  readonly handleToolEnd = this.handleChainEnd;
  readonly handleToolError = this.handleChainEnd;

  /** Call it before each chunk is sent. */
  before(namespace: Namespace, mode: string): void {
    const key = keyOf(namespace);
    if (key === '' || this.#open.has(key) || !GRAPH_MODES.has(mode)) return;
    this.#open.set(key, namespace);
    if (!this.#calls.has(key)) this.#renameCall(namespace);
    this.#send('started', namespace);
  }

  /** A graph with a memory of its own sends its chunks under a namespace without ids. */
  #renameCall(namespace: Namespace): void {
    for (const [key, call] of this.#calls) {
      if (keyOf(namespace) !== keyOf(withoutIds(call.namespace))) continue;
      this.#calls.delete(key);
      this.#calls.set(keyOf(namespace), Object.assign(call, { namespace }));
      return;
    }
  }

  /** Call it after each chunk is sent: the result of a task ends the graphs that it called. */
  after(namespace: Namespace, mode: string, payload: unknown): void {
    if (mode !== 'tasks' || !isObject(payload) || !('result' in payload)) return;
    const { name, id, interrupts } = payload;
    const isInterrupted = Array.isArray(interrupts) && interrupts.length > 0;
    const isCalled = (called: Namespace) => isCalledBy(called, namespace, { name, id });
    this.#close(isInterrupted ? 'interrupted' : 'completed', isCalled);
  }

  /** The graph has stopped without an error: those that have not ended are interrupted. */
  stopped(): void {
    this.#close('interrupted', () => true);
  }

  /** The graph threw. */
  failed(): void {
    this.#close('failed', () => true);
  }

  /** Innermost graphs first. One that stops before its first node sends no chunks, and may still have to be started. */
  #close(event: 'completed' | 'failed' | 'interrupted', isEnded: (namespace: Namespace) => boolean): void {
    for (const { namespace } of [...this.#calls.values()])
      if (isEnded(namespace)) this.before(namespace, 'tasks');
    for (const [key, namespace] of [...this.#open].reverse()) {
      if (!isEnded(namespace)) continue;
      const error = this.#calls.get(key)?.error;
      this.#send(error ? 'failed' : event, namespace, error && { error });
      this.#open.delete(key);
      this.#calls.delete(key);
    }
  }

  #send(event: string, namespace: Namespace, more: { error?: RunError } = {}): void {
    const tool_call_id = this.#calls.get(keyOf(namespace))?.tool_call_id;
    const data = { event, namespace, ...(tool_call_id !== undefined && { tool_call_id }), ...more };
    this.#emit({ event: ['lifecycle', ...namespace].join('|'), data });
  }
}

/** Whether a run of LangChain is that of a graph, by the name of its class: its library may be any copy. */
function isGraph(chain: unknown): boolean {
  const id = tryOrUndefined(() => isObject(chain) && chain['id']);
  return Array.isArray(id) && id[0] === 'langgraph' && id[1] === 'pregel';
}

function keyOf(namespace: Namespace): string {
  return namespace.join('|');
}

/** As LangGraph names the memory of a graph that has its own. */
function withoutIds(namespace: Namespace): Namespace {
  return namespace.filter((part) => !/^\d+$/.test(part)).map((part) => part.split(':')[0] ?? part);
}

/** Whether the graph `called` was called, directly or not, by a task of the graph `within`. */
function isCalledBy(
  called: Namespace,
  within: Namespace,
  { name, id }: { name: unknown; id: unknown },
): boolean {
  const isBelow = within.every((part, i) => part === called[i]);
  const path = called.slice(within.length);
  return isBelow && (path.includes(`${name}:${id}`) || path[0] === name);
}
