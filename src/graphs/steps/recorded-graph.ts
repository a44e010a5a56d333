import { AsyncLocalStorage } from 'node:async_hooks';
import { isObject } from '../../core/json.ts';
import { includesLevel } from '../../schemas/steps.ts';
import { copyOf, isLocalPregel, type RunnableGraph } from '../runnable.ts';
import type { ActiveSpans } from './active-spans.ts';
import { StepCallbacks } from './callbacks.ts';
import { recordedStore } from './recorded-store.ts';
import { placeOf, type StepRecorder } from './recorder.ts';

/** A recorder, with what the code of nodes is given. */
interface Recording {
  readonly recorder: StepRecorder;
  readonly callbacks: StepCallbacks;
  readonly spans: ActiveSpans | undefined;
}

/** The recording of the run that executes; also within graphs that code of a node calls. */
const recordings = new AsyncLocalStorage<Recording>();

/** Calls `act` with each node recorded that a recorded graph executes in it, below its span of `spans`. */
export function recordingSteps<T>(recorder: StepRecorder, spans: ActiveSpans | undefined, act: () => T): T {
  return recordings.run({ recorder, callbacks: new StepCallbacks(recorder), spans }, act);
}

/** A LangChain runnable: a node's code, or what writes its result. */
interface Invocable {
  invoke(input: unknown, config: NodeConfig): Promise<unknown>;
}

interface NodeConfig {
  readonly callbacks?: unknown;
  readonly runName?: string | undefined;
  readonly metadata?: unknown;
  readonly executionInfo?: unknown;
  readonly store?: unknown;
}

/** LangGraph's `PregelNode`. */
interface GraphNode {
  readonly bound?: unknown;
  readonly writers?: readonly unknown[];
  getNode(): Invocable | undefined;
}

const recordedNodes = new WeakMap<object, Record<string, GraphNode>>();

/**
 * The nodes of the graph, and of the graphs that are nodes of it, such that each execution is recorded by the recorder
 * of `recordingSteps`. They are copies: the user's graph is shared. `undefined` for a graph that is not built like
 * LangGraph's own.
 */
export function recordedNodesOf(graph: RunnableGraph): Record<string, GraphNode> | undefined {
  if (!isLocalPregel(graph)) return undefined;
  const known = recordedNodes.get(graph);
  if (known) return known;
  const { nodes } = graph as unknown as { nodes: Record<string, GraphNode> };
  const recorded = Object.fromEntries(
    Object.entries(nodes).map(([name, node]) => [
      name,
      typeof node?.getNode === 'function' && !name.startsWith('__') ? recordedNode(name, node) : node,
    ]),
  );
  recordedNodes.set(graph, recorded);
  return recorded;
}

/**
 * Two layers: what executes the whole node, the choice of the next ones included, is measured; and its code gets the
 * callbacks, not the sequence around it, for which LangChain would call them in vain.
 */
function recordedNode(name: string, node: GraphNode): GraphNode {
  // LangGraph recognises a node without code by the runnable that it puts in its place.
  const hasCode = isInvocable(node.bound) && !isPassthrough(node.bound);
  const bound = hasCode ? withCallbacks(node.bound as Invocable) : node.bound;
  const writers = node.writers?.map((writer) =>
    isInvocable(writer) && !('writes' in writer) ? withCallbacks(writer) : writer,
  );
  const copy: GraphNode = Object.assign(Object.create(node), { bound, ...(writers && { writers }) });
  // Made once: LangGraph makes it anew for each task, and an object with a prototype of its own costs more than the task.
  const whole = node.getNode.call(copy);
  const recorded = whole && measured(name, whole);
  return Object.assign(copy, { getNode: () => recorded });
}

function measured(name: string, whole: Invocable): Invocable {
  return overridden(whole, async (input, config) => {
    const { recorder, spans } = recordings.getStore() ?? {};
    const place = placeOf(config.metadata, config.executionInfo);
    const step = recorder?.begin({ kind: 'node', name, place, model: null, provider: null });
    try {
      const invoke = () => whole.invoke(input, config);
      const result = await (spans && step ? spans.inStep(step.number, invoke) : invoke());
      recorder?.keep(step, (keeper) => keeper.output(result));
      recorder?.succeed(step);
      return result;
    } catch (error) {
      recorder?.fail(step, error);
      throw error;
    }
  });
}

/** Calls on the original: it may have private fields, which a copy would lack. */
function withCallbacks(runnable: Invocable): Invocable {
  if (isLocalPregel(runnable as never)) return recordedSubgraph(runnable);
  return overridden(runnable, (input, config) => runnable.invoke(input, withRecording(config)));
}

/** A graph that is a node: a copy of it, as of the root graph. */
function recordedSubgraph(graph: Invocable): Invocable {
  return copyOf(graph, { nodes: recordedNodesOf(graph as never) });
}

function overridden(runnable: Invocable, invoke: Invocable['invoke']): Invocable {
  return Object.defineProperty(Object.create(runnable), 'invoke', { value: invoke });
}

function withRecording(config: NodeConfig): NodeConfig {
  const recording = recordings.getStore();
  if (!recording) return config;
  const { callbacks, recorder } = recording;
  const { store, metadata } = config;
  return {
    ...config,
    callbacks: addCallbacks(config.callbacks, callbacks),
    // The name of the node, which LangChain gives to the first run that calls a handler.
    runName: undefined,
    ...(includesLevel(recorder.level, 'all') &&
      isObject(store) && { store: recordedStore(store, recorder, metadata) }),
  };
}

/** A list of handlers or a manager of them; a manager is copied. */
function addCallbacks(given: unknown, added: StepCallbacks): unknown {
  if (given === undefined || given === null) return [added];
  if (Array.isArray(given)) return given.includes(added) ? given : [...given, added];
  const { handlers, copy } = given as { handlers?: unknown; copy?: (more: unknown[]) => unknown };
  if (typeof copy !== 'function' || (Array.isArray(handlers) && handlers.includes(added))) return given;
  return copy.call(given, [added]);
}

function isPassthrough(runnable: object): boolean {
  return (runnable.constructor as { lc_name?: () => string }).lc_name?.() === 'RunnablePassthrough';
}

function isInvocable(value: unknown): value is Invocable {
  return isObject(value) && typeof value['invoke'] === 'function';
}
