import type { GraphDrawing } from '../schemas/assistants.ts';
import type { RunnableGraph } from './runnable.ts';
import { toWire } from './wire.ts';

/** Nodes and edges as LangGraph draws them; empty for a graph that cannot draw itself. */
export async function drawing(graph: RunnableGraph, xray: boolean | number): Promise<GraphDrawing> {
  const drawn = await graph.getGraphAsync?.({ xray });
  return drawn ? (toWire(drawn.toJSON()) as GraphDrawing) : { nodes: [], edges: [] };
}
