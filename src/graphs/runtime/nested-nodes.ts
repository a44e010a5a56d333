import { InvalidInput } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import type { Command } from '../../schemas/command.ts';
import type { GraphCall } from '../graph.ts';
import { copyOf, isLocalPregel, nodeOf, type RunnableGraph, subgraphOf } from '../runnable.ts';
import { type CommandLibrary, toLangGraphCommand } from './command.ts';
import { savedCheckpoint } from './saved-checkpoint.ts';

/** Between the names of an id such as `research:plan`, as of an x-rayed drawing: no name of a node contains it. */
const SEPARATOR = ':';

/** Key of the input that names where a subgraph begins: it is stored with the task, and outlives an attempt. */
const BEGIN = '__begin__';

type Names = GraphCall['interrupt_after'];

interface Reach {
  readonly library: () => Promise<CommandLibrary>;
  readonly checkpointer: unknown;
}

/**
 * The call such that its command may go to a node within a subgraph, and its run stop at one: LangGraph itself knows the
 * nodes of the root graph only. The graph is a copy. Throws `InvalidInput` for a node that cannot be reached.
 */
export function withNestedNodes<Call extends GraphCall>(
  graph: RunnableGraph,
  call: Call,
  library: Reach['library'],
): { readonly graph: RunnableGraph; readonly call: Call } {
  const { command, interrupt_before, interrupt_after, memory } = call;
  const stops = [...namesOf(interrupt_before), ...namesOf(interrupt_after)];
  const isNested = [...stops, ...targetsOf(command)].some((id) => id.includes(SEPARATOR));
  if (!isNested || !isLocalPregel(graph)) return { graph, call };
  requireReachable(graph, call);
  const reach = { library, checkpointer: memory.checkpointer };
  return {
    graph: copyOf(graph, { nodes: nodesOf(graph, interrupt_before, interrupt_after, reach) }),
    call: {
      ...call,
      command: command && firstCommand(command),
      interrupt_before: ownOf(interrupt_before),
      interrupt_after: ownOf(interrupt_after),
    },
  };
}

/**
 * Only a node on its own: it stops after it. A later attempt, which has no command, knows by that which subgraph may have
 * to begin elsewhere.
 */
function requireReachable(graph: RunnableGraph, { command, interrupt_after }: GraphCall): void {
  const targets = targetsOf(command);
  const id = targets.find((each) => each.includes(SEPARATOR));
  if (id === undefined) return;
  if (targets.length > 1)
    throw new InvalidInput(`goto: ${id} is a node of a subgraph, and must be the only target.`);
  if (!namesOf(interrupt_after).includes(id))
    throw new InvalidInput(
      `goto: ${id} is a node of a subgraph, and can only run on its own: add it to interrupt_after.`,
    );
  const names = id.split(SEPARATOR);
  let within: RunnableGraph = graph;
  for (const [i, name] of names.entries()) {
    const path = names.slice(0, i + 1).join(SEPARATOR);
    if (!nodeOf(within, name)) throw new InvalidInput(`goto: the graph has no node ${path}.`);
    if (i === names.length - 1) return;
    const subgraph = subgraphOf(within, name);
    if (!subgraph)
      throw new InvalidInput(
        `goto: ${id} cannot be executed on its own, because the code of ${path} calls its graph. Execute ${path} instead.`,
      );
    within = subgraph;
  }
}

/** The nodes; subgraphs with something to reach in them are copied. */
function nodesOf(graph: RunnableGraph, before: Names, after: Names, reach: Reach): Record<string, unknown> {
  const { nodes } = graph as unknown as { nodes: Record<string, unknown> };
  const nested = [...namesOf(before), ...namesOf(after)].filter((id) => id.includes(SEPARATOR));
  const names = new Set(nested.map((id) => id.slice(0, id.indexOf(SEPARATOR))));
  const opened = [...names].flatMap((name) => {
    const node = nodeOf(graph, name);
    const subgraph = subgraphOf(graph, name);
    if (!node || !subgraph) return [];
    const bound = openedSubgraph(subgraph, within(before, name), within(after, name), reach);
    return [[name, Object.assign(Object.create(node), { bound })] as const];
  });
  return { ...nodes, ...Object.fromEntries(opened) };
}

/** A copy that stops at these of its nodes, and begins where its input tells it to. */
function openedSubgraph(
  graph: RunnableGraph,
  before: readonly string[],
  after: readonly string[],
  reach: Reach,
): RunnableGraph {
  const [interruptBefore, interruptAfter] = [namesOf(ownOf(before)), namesOf(ownOf(after))];
  return copyOf(graph, {
    nodes: nodesOf(graph, before, after, reach),
    ...(interruptBefore.length > 0 && { interruptBefore }),
    ...(interruptAfter.length > 0 && { interruptAfter }),
    async stream(this: RunnableGraph, input: unknown, options: CallOptions) {
      if (!isObject(input) || !isObject(input[BEGIN])) return graph.stream.call(this, input, options);
      if (await hasBegun(options, reach.checkpointer)) return graph.stream.call(this, null, options);
      const command = firstCommand(input[BEGIN] as Command);
      const begin = await toLangGraphCommand(await reach.library(), command, async () => []);
      return graph.stream.call(this, begin, notResuming(options));
    },
  });
}

/** Options with which a graph calls its subgraph. */
export interface CallOptions {
  readonly configurable?: Readonly<Record<string, unknown>>;
}

/** Whether it would continue from a checkpoint of its own: a command would be applied again. */
async function hasBegun({ configurable = {} }: CallOptions, checkpointer: unknown): Promise<boolean> {
  const { thread_id, checkpoint_ns, __pregel_resuming } = configurable;
  if (__pregel_resuming !== true) return false;
  return (await savedCheckpoint(checkpointer, { thread_id, checkpoint_ns })) !== undefined;
}

/**
 * If the parent graph continued during startup, LangGraph would consider the subgraph started and skip its first checkpoint.
 */
export function notResuming(options: CallOptions): CallOptions {
  return { ...options, configurable: { ...options.configurable, __pregel_resuming: false } };
}

/** The command as the graph gets it: if it goes into a subgraph, the input of that has the rest, with the update. */
function firstCommand({ goto, update, ...others }: Command): Command {
  const target = [goto ?? []].flat()[0];
  const id = typeof target === 'object' ? target.node : target;
  const end = id?.indexOf(SEPARATOR) ?? -1;
  if (id === undefined || target === undefined || end < 0) return { goto, update, ...others };
  const rest = id.slice(end + 1);
  const begin = { goto: typeof target === 'object' ? { ...target, node: rest } : rest, update };
  return { ...others, goto: { node: id.slice(0, end), input: { [BEGIN]: begin } } };
}

function targetsOf(command: Command | null): string[] {
  return [command?.goto ?? []].flat().map((target) => (typeof target === 'string' ? target : target.node));
}

function namesOf(names: Names): readonly string[] {
  return names === null || names === '*' ? [] : names;
}

/** Names of nodes of the graph itself. */
function ownOf(names: Names): Names {
  return names === null || names === '*' ? names : names.filter((id) => !id.includes(SEPARATOR));
}

/** Names of nodes within its node `name`, as the graph that is this node names them. */
function within(names: Names, name: string): string[] {
  const prefix = name + SEPARATOR;
  return namesOf(names).flatMap((id) => (id.startsWith(prefix) ? [id.slice(prefix.length)] : []));
}
