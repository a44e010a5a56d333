/**
 * LangGraph.js by shape. The user's project brings its own copy of the library, so that nothing here may depend on a
 * class of ours (engine §6), and an object of another library with these methods will do.
 */
export interface RunnableGraph {
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
  getState(config: object, options?: object): Promise<Snapshot>;
  /** Version v3 returns a promise, v2 the iterable itself. */
  streamEvents?(input: unknown, options: object): AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;
  /** A new graph of the same class, private fields included. */
  withConfig?(config: object): RunnableGraph;
  getStateHistory?(config: object, options?: object): AsyncIterable<Snapshot>;
  updateState?(config: object, values: unknown, asNode?: string): Promise<SnapshotConfig>;
  bulkUpdateState?(config: object, supersteps: object[]): Promise<SnapshotConfig>;
  getGraphAsync?(config: object): Promise<{ toJSON(): unknown }>;
  getSubgraphsAsync?(namespace?: string, recurse?: boolean): AsyncIterable<[string, RunnableGraph]>;
}

export interface SnapshotConfig {
  readonly configurable?: Record<string, unknown> | undefined;
}

/** LangGraph's `StateSnapshot`. Without `createdAt` there is no checkpoint. */
export interface Snapshot {
  readonly values: unknown;
  readonly next: readonly string[];
  readonly tasks: readonly SnapshotTask[];
  readonly config: SnapshotConfig;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly createdAt?: string | undefined;
  readonly parentConfig?: SnapshotConfig | undefined;
}

export interface SnapshotTask {
  readonly id: string;
  readonly name: string;
  readonly path?: readonly unknown[];
  readonly error?: unknown;
  readonly interrupts?: readonly unknown[];
  /** Config of the subgraph's state, or the state itself if it was requested. */
  readonly state?: Snapshot | SnapshotConfig;
  readonly result?: unknown;
}

export function isRunnableGraph(value: unknown): value is RunnableGraph {
  if (typeof value !== 'object' || value === null) return false;
  const graph = value as Record<string, unknown>;
  return (
    typeof graph.stream === 'function' &&
    (graph.lg_is_pregel === true || typeof graph.getState === 'function')
  );
}

/** The compiled-in memory, which the server replaces by its own. A checkpointer may also be a flag, which does not count. */
export function overriddenMemory(graph: RunnableGraph): ('checkpointer' | 'store')[] {
  if (!isLocalPregel(graph)) return [];
  const own = graph as { checkpointer?: unknown; store?: unknown };
  return (['checkpointer', 'store'] as const).filter(
    (name) => typeof own[name] === 'object' && own[name] !== null,
  );
}

/** True if built like LangGraph's own graphs; false for a remote graph, which makes its checkpoints elsewhere. */
export function isLocalPregel(graph: RunnableGraph): boolean {
  return 'nodes' in graph && 'channels' in graph;
}

/** A copy that shares what does not change; private fields are not copied. */
export function copyOf<Graph extends object>(graph: Graph, changes: object): Graph {
  return Object.assign(Object.create(Object.getPrototypeOf(graph)), graph, changes);
}

/** The graph that is the node `name` itself; `undefined` for any other node, also one whose code calls a graph. */
export function subgraphOf(graph: RunnableGraph, name: string): RunnableGraph | undefined {
  const bound = nodeOf(graph, name)?.bound as Partial<RunnableGraph> | undefined;
  const isGraph =
    typeof bound === 'object' && typeof bound?.stream === 'function' && isLocalPregel(bound as RunnableGraph);
  return isGraph ? (bound as RunnableGraph) : undefined;
}

/** LangGraph's node of that name; `undefined` if the graph lacks it. */
export function nodeOf(graph: RunnableGraph, name: string): { readonly bound?: unknown } | undefined {
  const { nodes } = graph as { nodes?: Readonly<Record<string, object>> };
  return nodes && Object.hasOwn(nodes, name) && !name.startsWith('__') ? nodes[name] : undefined;
}
