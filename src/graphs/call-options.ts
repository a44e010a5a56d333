import type { GraphCall } from './graph.ts';

/**
 * What LangGraph's `stream` and `streamEvents` take for a call. Only what was asked for is in it: an `undefined` would
 * replace what the graph itself is bound to, such as its recursion limit (ENGINE §6). Subgraphs are always asked for,
 * because without them LangGraph passes on their custom events as if they were the graph's own.
 */
export function callOptions(call: GraphCall, modes: string[], signal: AbortSignal): Record<string, unknown> {
  const { config, context, interrupt_before, interrupt_after, durability } = call;
  const { run_id } = config.configurable;
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
    streamMode: modes,
    subgraphs: true,
    signal,
  });
}

function given(options: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
