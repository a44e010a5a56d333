import { publicFailure, tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { RunError } from '../../schemas/threads.ts';

/** A task that threw, in the terms of stream mode `tasks`. */
export interface TaskFailure {
  readonly id: string;
  readonly name: string;
  /** Graphs that contain the task, outermost first; empty for the root graph. */
  readonly namespace: readonly string[];
  readonly step: unknown;
  readonly error: RunError;
}

type Start = Omit<TaskFailure, 'error'>;

/**
 * LangChain callback handler that records which tasks threw. LangGraph.js neither names the error in a task's result
 * nor delivers the result of the task that ended the run; clients require both (contract §5).
 */
export class TaskFailures {
  readonly name = 'TaskFailures';
  readonly #started = new Map<string, Start>();
  readonly #failed = new Map<string, TaskFailure>();
  readonly #reported = new Set<string>();

  readonly handleChainStart = (
    _chain: unknown,
    _inputs: unknown,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
    _runType?: string,
    name?: string,
  ): void => {
    if (!isObject(metadata) || name === undefined || name !== metadata.langgraph_node) return;
    const path = String(metadata.langgraph_checkpoint_ns ?? '').split('|');
    const id = path.pop()?.split(':').at(-1) ?? '';
    this.#started.set(runId, { id, name, namespace: path, step: metadata.langgraph_step });
    // A retry of a task that threw before.
    this.#failed.delete(id);
  };

  readonly handleChainEnd = (_outputs: unknown, runId: string): void => {
    this.#started.delete(runId);
  };

  readonly handleChainError = (error: unknown, runId: string): void => {
    const task = this.#started.get(runId);
    this.#started.delete(runId);
    if (task && !isBubbleUp(error)) this.#failed.set(task.id, { ...task, error: publicFailure(error) });
  };

  /** The failure of a task whose result is being sent; marks it as reported. */
  report(task_id: string): TaskFailure | undefined {
    this.#reported.add(task_id);
    return this.#failed.get(task_id);
  }

  /** Failures that no result reported: LangGraph drops unread items when it throws. */
  unreported(): TaskFailure[] {
    return [...this.#failed.values()].filter(({ id }) => !this.#reported.has(id));
  }
}

/** `interrupt()` and jumps to a parent graph are thrown as errors too (`is_bubble_up` of LangGraph's GraphBubbleUp). */
export function isBubbleUp(error: unknown): boolean {
  return tryOrUndefined(() => isObject(error) && error.is_bubble_up === true) ?? false;
}
