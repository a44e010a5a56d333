import { once } from 'node:events';
import type { GraphCall, GraphEvent, GraphRegistry, GraphRuntime } from '../../src/graphs/graph.ts';
import { emptyThreadState } from '../../src/graphs/runtime/thread-state.ts';
import type { ThreadState } from '../../src/schemas/thread-state.ts';

/** A graph without LangGraph: whatever the test says, for tests of what surrounds graphs. */
export function scriptedGraph(
  stream: (call: GraphCall) => AsyncIterable<GraphEvent>,
  state: Partial<ThreadState> = {},
): GraphRegistry {
  const graph: GraphRuntime = {
    graph_id: 'scripted',
    stream,
    state: async () => ({ ...emptyThreadState(), ...state }),
    stateJson: async () => Buffer.from(JSON.stringify({ ...emptyThreadState(), ...state })),
    historyJson: async () => Buffer.from('[]'),
    update: async () => ({}),
    bulkUpdate: async () => {},
    draw: async () => ({ nodes: [], edges: [] }),
    schemas: () => Promise.reject(new Error('a scripted graph has no schemas')),
    nodes: async () => [],
    subgraphs: async () => ({}),
  };
  return {
    ids: ['scripted'],
    description: () => null,
    get: async () => graph,
    loadErrors: () => new Map(),
    overriddenMemory: () => new Map(),
    loads: () => 1,
    hosts: () => [],
    placeOf: () => ({ waitsForOwnHost: false }),
    hostLoads: async () => [],
  };
}

/** Streams nothing, until its run is stopped. */
// biome-ignore lint/correctness/useYield: a graph that never says anything
export async function* untilStopped({ signal }: GraphCall): AsyncGenerator<GraphEvent> {
  await once(signal, 'abort');
  throw signal.reason;
}
