import { isObject } from '../../core/json.ts';

type Namespace = readonly string[];

/**
 * The graph in which a model or tool was called by the task `task` (its namespace, as text). LangGraph before 1.7 gives
 * their events the task as namespace, from 1.7 on the graph that holds it.
 */
export function graphOfTask(namespace: Namespace, task: unknown): Namespace {
  return namespace.join('|') === task ? namespace.slice(0, -1) : namespace;
}

/** LangChain callback handler that notes which task called a tool: LangGraph's events of tools do not say it. */
export class ToolTasks {
  readonly name = 'ToolTasks';
  /** Before LangGraph's own handler sends the event. */
  readonly awaitHandlers = true;
  readonly #tasks = new Map<unknown, unknown>();

  readonly handleToolStart = (
    _tool: unknown,
    _input: unknown,
    _runId: string,
    _parentRunId?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
    _runName?: string,
    toolCallId?: string,
  ): void => {
    this.#tasks.set(toolCallId, metadata?.langgraph_checkpoint_ns);
  };

  /** The graph in which the tool of an event of mode `tools` was called. */
  graphOf(namespace: Namespace, event: unknown): Namespace {
    return graphOfTask(namespace, this.#tasks.get(isObject(event) ? event.toolCallId : undefined));
  }
}
