import { yieldTurn } from '../core/event-loop.ts';
import type { GraphCall } from './graph.ts';
import { isBuiltHere, type RunnableGraph } from './runnable.ts';

/**
 * What LangGraph's `stream` and `streamEvents` take for a call. Only what was asked for is in it: an `undefined` would
 * replace what the graph itself is bound to, such as its recursion limit (ENGINE §6). Subgraphs are always asked for,
 * because without them LangGraph passes on their custom events as if they were the graph's own.
 */
export function callOptions(
  graph: RunnableGraph,
  call: GraphCall,
  modes: string[],
  signal: AbortSignal,
  callbacks: readonly object[] = [],
): Record<string, unknown> {
  const { config, context, interrupt_before, interrupt_after } = call;
  const { run_id } = config.configurable;
  const { durability, handlers } = stepwise(graph, call);
  const all = [...handlers, ...callbacks];
  return given({
    configurable: { ...config.configurable },
    context: context ?? undefined,
    tags: config.tags,
    metadata: config.metadata,
    recursionLimit: config.recursion_limit,
    maxConcurrency: config.max_concurrency,
    runName: config.run_name,
    runId: typeof run_id === 'string' ? run_id : undefined,
    interruptBefore: interrupt_before ?? undefined,
    interruptAfter: interrupt_after ?? undefined,
    durability,
    callbacks: all.length > 0 ? all : undefined,
    streamMode: modes,
    subgraphs: true,
    signal,
  });
}

/**
 * How the event loop gets its turn between the steps of a graph that waits for nothing. With `sync` LangGraph waits for
 * the checkpointer at each step; ours knows by itself what may be committed later, and is done at once with `async`.
 * Without checkpoints a handler that LangGraph waits for does it; for all runs it would cost a tenth of a ms a step.
 */
function stepwise(
  graph: RunnableGraph,
  { durability }: GraphCall,
): { durability: GraphCall['durability']; handlers: readonly object[] } {
  if (!isBuiltHere(graph)) return { durability, handlers: [] };
  return durability === 'exit'
    ? { durability, handlers: [new TurnTaker()] }
    : { durability: 'sync', handlers: [] };
}

/** A LangChain callback handler. */
class TurnTaker {
  readonly name = 'TurnTaker';
  readonly awaitHandlers = true;
  readonly handleChainStart = () => yieldTurn();
}

function given(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
