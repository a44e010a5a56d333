import { copyOf, isLocalPregel, nodeOf, type RunnableGraph, subgraphOf } from '../runnable.ts';
import { type CallOptions, notResuming } from './nested-nodes.ts';
import { savedCheckpoint } from './saved-checkpoint.ts';

/**
 * The graph for a later attempt of a run. If that attempt begins right before a subgraph that remembers earlier runs
 * (`checkpointer: true`), LangGraph takes the subgraph for begun, ignores its input, and returns what an earlier run left.
 */
export function withContinuedSubgraphs(graph: RunnableGraph, checkpointer: unknown): RunnableGraph {
  if (!isLocalPregel(graph)) return graph;
  const { nodes } = graph as unknown as { readonly nodes: Readonly<Record<string, object>> };
  const changed = Object.keys(nodes).flatMap((name) => {
    const node = nodeOf(graph, name);
    const subgraph = node && subgraphOf(graph, name);
    const bound = subgraph && continued(subgraph, checkpointer);
    return bound === subgraph
      ? []
      : [[name, Object.assign(Object.create(node as object), { bound })] as const];
  });
  return changed.length === 0
    ? graph
    : copyOf(graph, { nodes: { ...nodes, ...Object.fromEntries(changed) } });
}

function continued(subgraph: RunnableGraph, checkpointer: unknown): RunnableGraph {
  const graph = withContinuedSubgraphs(subgraph, checkpointer);
  if ((graph as { readonly checkpointer?: unknown }).checkpointer !== true) return graph;
  return copyOf(graph, {
    async stream(this: RunnableGraph, input: unknown, options: CallOptions) {
      const isNew = await isOfEarlierSuperstep(options, checkpointer);
      return graph.stream.call(this, input, isNew ? notResuming(options) : options);
    },
  });
}

/** Whether the newest checkpoint of the subgraph is not of the superstep in which it is called. */
async function isOfEarlierSuperstep(
  { configurable = {} }: CallOptions,
  checkpointer: unknown,
): Promise<boolean> {
  const { thread_id, checkpoint_ns, checkpoint_map, __pregel_resuming } = configurable;
  if (__pregel_resuming !== true || typeof checkpoint_ns !== 'string') return false;
  const saved = await savedCheckpoint(checkpointer, {
    thread_id,
    checkpoint_ns: ownNamespace(checkpoint_ns),
  });
  if (!saved) return false;
  const parent = checkpoint_ns.split('|').slice(0, -1).join('|');
  const map = checkpoint_map as Readonly<Record<string, string>> | undefined;
  return saved.metadata?.parents?.[parent] !== map?.[parent];
}

/** Where LangGraph stores the state of such a subgraph: without the ids of tasks, and the numbers of repeated calls. */
function ownNamespace(namespace: string): string {
  const parts = namespace.split('|').filter((part) => !/^\d+$/.test(part));
  return parts.map((part) => part.split(':', 1)[0]).join('|');
}
