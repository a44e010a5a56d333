import type { LogLine } from '../core/logger.ts';
import type { ProcessLoad } from '../core/process-load.ts';
import type { TraceParent } from '../core/trace-ids.ts';
import type { GraphDrawing, GraphNode, GraphSchema } from '../schemas/assistants.ts';
import type { Command } from '../schemas/command.ts';
import type { RunKwargs } from '../schemas/runs.ts';
import type { StreamMode } from '../schemas/stream-mode.ts';
import type { HostView } from '../schemas/system.ts';
import type { ThreadState, ThreadStateField } from '../schemas/thread-state.ts';

/** An event of a run as sent on the wire: name (`mode` or `mode|namespace`) and JSON-ready data. */
export interface GraphEvent {
  readonly event: string;
  readonly data: unknown;
  /** The data as storable JSON text, where that was cheaper to make than from the data. */
  readonly json?: string;
}

/** The same, serialised by the process that executes the graph. */
export interface SerializedEvent {
  readonly event: string;
  /** JSON text, storable. */
  readonly json: string;
}

/** The root graph made a checkpoint; the preceding events cover everything in it. */
export interface CheckpointEvent {
  readonly checkpoint_id: string;
}

/** LangGraph's configuration: `configurable` carries thread_id, checkpoint_id, checkpoint_ns and the user's own. */
export type GraphConfig = RunKwargs['config'];

/** A line that user code printed in a run. Plain data: it may come from a graph host. */
export interface OutputLine {
  /** Epoch ms. */
  readonly time: number;
  readonly level: LogLine['level'];
  readonly message: string;
  /** `logger`: the logger of LangGraph's SDK, or the server about the run's code. */
  readonly source: 'console' | 'stdout' | 'stderr' | 'logger';
  readonly node?: string | undefined;
  /** `file:line:column` of the call in the project. */
  readonly at?: string | undefined;
  /** JSON object of what was logged with the message. */
  readonly fields?: string | undefined;
}

export interface OutputBatch {
  /** In order. */
  readonly lines: readonly OutputLine[];
  /** Number of lines before these that were dropped. */
  readonly dropped: number;
  /** The graph host that they come from. */
  readonly host?: number;
}

export type OutputSink = (batch: OutputBatch) => void;

/** Checkpointer and store of a graph; created by `checkpointer.ts` and `graph-store.ts`, opaque here. */
export interface GraphMemory {
  readonly checkpointer: unknown;
  readonly store: unknown;
}

/** The span that spans of user code are below. */
export interface RunSpan extends TraceParent {
  /** The attempt whose span it is, if its steps are spans, too. */
  readonly attempt?: { readonly run_id: string; readonly number: number };
}

/** One execution: from input, from a command, or (both null) resumed from the last checkpoint. */
export interface GraphCall {
  readonly input: unknown;
  readonly command: Command | null;
  /** An earlier attempt has left a checkpoint: the input is saved, and the state from before it is not streamed. */
  readonly continues?: boolean;
  /** A resume value for an interrupt id that is not pending throws `ResumeRefused` before anything happens. */
  readonly strict_resume?: boolean;
  readonly config: GraphConfig;
  readonly context: unknown;
  readonly stream_mode: readonly StreamMode[];
  readonly subgraphs: boolean;
  /** Absent: user code has spans of its own only. */
  readonly span?: RunSpan | undefined;
  /** Events of the newer protocol (contract §7) instead of those of stream modes. */
  readonly protocol?: boolean;
  /** Whether checkpoints of the root graph are reported among the events. */
  readonly checkpoint_events?: boolean;
  readonly interrupt_before: '*' | readonly string[] | null;
  readonly interrupt_after: '*' | readonly string[] | null;
  readonly durability: 'sync' | 'async' | 'exit';
  readonly memory: GraphMemory;
  readonly signal: AbortSignal;
  /**
   * Once aborted, the graph stops before the next superstep, of a subgraph too, and `stream` throws `GraphDrained`; what
   * executes ends normally. If nothing is left to do, it ends as it would have. Without effect on graphs of other kinds.
   */
  readonly drain?: AbortSignal | undefined;
  /**
   * Once aborted, a graph in another process stops at its next checkpoint of the root graph, and `stream` throws
   * `HostLost`. In this process `signal` does that: it is aborted before the checkpointer returns.
   */
  readonly hand_over?: AbortSignal | undefined;
  /** Graph hosts whose end the run may have caused: after two it gets one of its own. */
  readonly host_losses?: number;
  /** Receives what the code prints in another process; in this one, the run's output does. */
  readonly onOutput?: OutputSink;
}

/** A state change from outside a run (`POST /threads/{id}/state`). */
export interface GraphUpdate {
  readonly config: GraphConfig;
  readonly values: unknown;
  readonly as_node: string | undefined;
  readonly memory: GraphMemory;
}

/** The return value of one node: values, or a command. */
export interface SuperstepUpdate {
  readonly values?: unknown;
  readonly command?: Command | null | undefined;
  readonly as_node: string;
}

/** Supersteps of an imported history, oldest first; one checkpoint each. */
export interface GraphBulkUpdate {
  readonly config: GraphConfig;
  readonly supersteps: readonly (readonly SuperstepUpdate[])[];
  readonly memory: GraphMemory;
}

/** The state at `configurable.checkpoint_id`, or the latest. */
export interface StateQuery {
  readonly config: GraphConfig;
  readonly memory: GraphMemory;
  /** Whether the states of subgraphs are nested in their tasks. */
  readonly subgraphs: boolean;
  readonly select: StateSelection;
}

/** The fields to return, or channels of the values; all by default. */
export type StateSelection = readonly ThreadStateField[] | null | undefined;

export interface HistoryQuery {
  readonly config: GraphConfig;
  readonly limit: number;
  /** Only checkpoints older than this one. */
  readonly before?: GraphConfig | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly select?: StateSelection;
  readonly memory: GraphMemory;
}

/**
 * A graph as seen by the server: LangGraph.js first of all, but any object with these methods will do. Never mutates
 * the user's graph; each call works on its own clone (engine §6).
 */
export interface GraphRuntime {
  readonly graph_id: string;
  /**
   * Ends normally at an interrupt too. Throws what the graph throws, and on abort the signal's reason once the graph
   * has stopped, after half a second at the latest. A slow reader exerts no back-pressure.
   */
  stream(call: GraphCall): AsyncIterable<GraphEvent | SerializedEvent | CheckpointEvent>;
  /** The state at `configurable.checkpoint_id`, or the latest. Returns `undefined` if the checkpoint does not exist. */
  state(config: GraphConfig, memory: GraphMemory, subgraphs: boolean): Promise<ThreadState | undefined>;
  /** The same as JSON, UTF-8, for a client: it is printed where the graph is, and parsed nowhere on its way. */
  stateJson(query: StateQuery): Promise<Uint8Array | undefined>;
  /** JSON of a list of states, newest first; UTF-8. */
  historyJson(query: HistoryQuery): Promise<Uint8Array>;
  /**
   * Returns the `configurable` of the new checkpoint: thread_id, checkpoint_ns, checkpoint_id. Throws `BadRequest` if
   * the graph rejects the values or does not know the node.
   */
  update(update: GraphUpdate): Promise<Record<string, unknown>>;
  /** Throws `BadRequest` like `update`; earlier supersteps remain. */
  bulkUpdate(replay: GraphBulkUpdate): Promise<void>;
  /** `xray`: levels of subgraphs to expand; true for all. */
  draw(xray: boolean | number): Promise<GraphDrawing>;
  /**
   * Its nodes and those of its subgraphs. `source`: whether their code is located, which blocks the process of the graph
   * for a moment.
   */
  nodes(source: boolean): Promise<GraphNode[]>;
  schemas(): Promise<GraphSchema>;
  /** Namespace → schemas. */
  subgraphs(
    namespace: string | undefined,
    recurse: boolean,
  ): Promise<Record<string, Omit<GraphSchema, 'graph_id'>>>;
}

/** Why a factory is called (contract §3). */
export type AccessContext = 'threads.create_run' | 'threads.read' | 'threads.update' | 'assistants.read';

/** A graph host as operators see it. */
export interface GraphHost extends HostView {
  /** The node, and its run, that block its event loop, if they are known. */
  readonly blockedBy:
    | { readonly node?: string | undefined; readonly run_id?: string | undefined }
    | undefined;
}

/** `host` is absent if the run waits for one, or if there are none. */
export interface RunPlace {
  readonly host?: Omit<GraphHost, 'restarts'> | undefined;
  /** It lost so many hosts that it waits for one of its own. */
  readonly waitsForOwnHost: boolean;
}

/** The configured graphs, by name. Using one that failed to load throws its load error. */
export interface GraphRegistry {
  readonly ids: readonly string[];
  description(graph_id: string): string | null;
  /** Throws `NotFound` for an unknown name and `GraphLoadError` for a graph that failed to load. */
  get(graph_id: string, config: GraphConfig, access: AccessContext, context?: unknown): Promise<GraphRuntime>;
  /** Load errors by graph; graphs that loaded are absent. */
  loadErrors(): ReadonlyMap<string, Error>;
  /** How often the project has been loaded: what is derived from its graphs is good for one of these. */
  loads(): number;
  /** The processes that execute graphs; empty if it is this one. */
  hosts(): readonly GraphHost[];
  /** Where this process executes a run, also in a host that is being replaced or that executes this run alone. */
  placeOf(run_id: string): RunPlace;
  /** Load of the processes that execute runs since the last call; empty if it is this one. Never rejects. */
  hostLoads(): Promise<readonly ProcessLoad[]>;
  /** Compiled-in memory that the server replaces, by graph. Does not call factories. */
  overriddenMemory(): ReadonlyMap<string, readonly ('checkpointer' | 'store')[]>;
}
