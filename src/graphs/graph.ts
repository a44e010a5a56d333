import type { GraphDrawing, GraphSchema } from '../schemas/assistants.ts';
import type { Command } from '../schemas/command.ts';
import type { RunKwargs } from '../schemas/runs.ts';
import type { StreamMode } from '../schemas/stream-mode.ts';
import type { ThreadState } from '../schemas/thread-state.ts';

/** One event of a run as it goes on the wire: its name (`mode` or `mode|namespace`) and its data, ready for JSON. */
export interface GraphEvent {
  readonly event: string;
  readonly data: unknown;
}

/** The root graph has made a checkpoint, and the events before tell everything that is in it. */
export interface CheckpointEvent {
  readonly checkpoint_id: string;
}

/** LangGraph's configuration: `configurable` carries thread_id, checkpoint_id, checkpoint_ns and the user's own. */
export type GraphConfig = RunKwargs['config'];

/** Where a graph keeps what it must remember; made by `checkpointer.ts` and `graph-store.ts`, opaque here. */
export interface GraphMemory {
  readonly checkpointer: unknown;
  readonly store: unknown;
}

/** One execution: from input, from a command, or (both null) on from the last checkpoint. */
export interface GraphCall {
  readonly input: unknown;
  readonly command: Command | null;
  /** An answer by id to what does not wait throws `UnknownInterruptError` before anything happens. */
  readonly strict_resume?: boolean;
  readonly config: GraphConfig;
  readonly context: unknown;
  readonly stream_mode: readonly StreamMode[];
  readonly subgraphs: boolean;
  /** Events of the newer protocol (CONTRACT §7) instead of those of stream modes. */
  readonly protocol?: boolean;
  /** Whether the checkpoints of the root graph are told of among the events. */
  readonly checkpoint_events?: boolean;
  readonly interrupt_before: '*' | readonly string[] | null;
  readonly interrupt_after: '*' | readonly string[] | null;
  readonly durability: 'sync' | 'async' | 'exit';
  readonly memory: GraphMemory;
  readonly signal: AbortSignal;
}

/** A state change from outside a run (`POST /threads/{id}/state`). */
export interface GraphUpdate {
  readonly config: GraphConfig;
  readonly values: unknown;
  readonly as_node: string | undefined;
  readonly memory: GraphMemory;
}

/** What one node would have returned: values, or a command. */
export interface SuperstepUpdate {
  readonly values?: unknown;
  readonly command?: Command | null | undefined;
  readonly as_node: string;
}

/** Supersteps of a history that happened elsewhere, oldest first; a checkpoint for each. */
export interface GraphBulkUpdate {
  readonly config: GraphConfig;
  readonly supersteps: readonly (readonly SuperstepUpdate[])[];
  readonly memory: GraphMemory;
}

export interface HistoryQuery {
  readonly config: GraphConfig;
  readonly limit: number;
  /** Only checkpoints older than this one. */
  readonly before?: GraphConfig | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly memory: GraphMemory;
}

/**
 * A graph as the server knows it: LangGraph.js behind it first, but anything with these methods will do.
 * Never mutates the user's graph; each call works on a clone of its own (ENGINE §6).
 */
export interface GraphRuntime {
  readonly graph_id: string;
  /**
   * Ends normally also when the graph stops at an interrupt. Throws what the graph throws, and on abort the signal's
   * reason once the graph has stopped, at the latest after half a second. Events are never held back by a slow reader.
   */
  stream(call: GraphCall): AsyncIterable<GraphEvent | CheckpointEvent>;
  /** The state at `configurable.checkpoint_id`, or the latest. Undefined when there is no such checkpoint. */
  state(config: GraphConfig, memory: GraphMemory, subgraphs: boolean): Promise<ThreadState | undefined>;
  history(query: HistoryQuery): Promise<ThreadState[]>;
  /**
   * The configurable of the new checkpoint: thread_id, checkpoint_ns, checkpoint_id. `BadRequest` when the graph cannot
   * take the values or does not know the node.
   */
  update(update: GraphUpdate): Promise<Record<string, unknown>>;
  /** `BadRequest` as for `update`; the supersteps before stay. */
  bulkUpdate(replay: GraphBulkUpdate): Promise<void>;
  /** `xray`: how many levels of subgraphs to open; true for all. */
  draw(xray: boolean | number): Promise<GraphDrawing>;
  schemas(): Promise<GraphSchema>;
  /** Namespace → schemas. */
  subgraphs(
    namespace: string | undefined,
    recurse: boolean,
  ): Promise<Record<string, Omit<GraphSchema, 'graph_id'>>>;
}

/** Why a factory is called (CONTRACT §3, last line). */
export type AccessContext = 'threads.create_run' | 'threads.read' | 'threads.update' | 'assistants.read';

/** The graphs of the configuration, by name. A graph that did not load answers with its load error. */
export interface GraphRegistry {
  readonly ids: readonly string[];
  description(graph_id: string): string | null;
  /** Throws `NotFound` for an unknown name and `GraphLoadError` for one that did not load. */
  get(graph_id: string, config: GraphConfig, access: AccessContext, context?: unknown): Promise<GraphRuntime>;
  /** Per graph: undefined when it loaded. */
  loadErrors(): ReadonlyMap<string, Error>;
  /** Per graph: what it was compiled with and the server puts its own in place of. Factories are not asked. */
  overriddenMemory(): ReadonlyMap<string, readonly ('checkpointer' | 'store')[]>;
}
