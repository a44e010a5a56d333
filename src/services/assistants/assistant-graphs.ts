import { join } from 'node:path';
import type { Actor } from '../../auth/actor.ts';
import { NotFound } from '../../core/errors.ts';
import type { GraphRegistry, GraphRuntime } from '../../graphs/graph.ts';
import type {
  GraphDrawing,
  GraphNode,
  GraphSchema,
  GraphSchemaNoId,
  Subgraphs,
} from '../../schemas/assistants.ts';
import type { FindAssistant } from './assistant-lookup.ts';

export interface NodesQuery {
  /** Whether to locate the source code of each node. */
  readonly source: boolean;
  /** Whether the client runs on the server's machine, where an editor can open the files. */
  readonly is_local: boolean;
}

/** Drawing and schemas of an assistant's graph (contract §2.1). */
export function assistantGraphs(graphs: GraphRegistry, find: FindAssistant, root: string | undefined) {
  return {
    /** Nodes and edges; `xray` expands that many levels of subgraphs, `true` all of them. */
    async draw(actor: Actor, id: string, xray: boolean | number): Promise<GraphDrawing> {
      const graph = await openGraph(actor, id, graphs, find);
      return await graph.draw(xray);
    },

    /** Nodes of the graph and of its subgraphs, with their tools. */
    async nodes(actor: Actor, id: string, { source, is_local }: NodesQuery): Promise<GraphNode[]> {
      const graph = await openGraph(actor, id, graphs, find);
      const nodes = await graph.nodes(source);
      return root !== undefined && is_local && actor.scope === 'admin'
        ? nodes.map((node) => withFile(node, root))
        : nodes;
    },

    async schemas(actor: Actor, id: string): Promise<GraphSchema> {
      const graph = await openGraph(actor, id, graphs, find);
      return await graph.schemas();
    },

    /** Schemas of the subgraphs by namespace; of one namespace if given, recursively if `recurse`. */
    async subgraphs(
      actor: Actor,
      id: string,
      namespace: string | undefined,
      recurse: boolean,
    ): Promise<Subgraphs> {
      const graph = await openGraph(actor, id, graphs, find);
      return withLegacyNames(await graph.subgraphs(namespace, recurse));
    },
  };
}

function withFile(node: GraphNode, root: string): GraphNode {
  const { source } = node;
  return source ? { ...node, source: { ...source, file: join(root, source.path) } } : node;
}

/** Opens the graph with the assistant's configuration. */
async function openGraph(
  actor: Actor,
  id: string,
  graphs: GraphRegistry,
  find: FindAssistant,
): Promise<GraphRuntime> {
  const assistant = await find(actor, 'assistants:read', id);
  if (!assistant) throw new NotFound('Not Found');
  const { assistant_id, graph_id, config, context } = assistant;
  const configurable = { ...config.configurable, graph_id, assistant_id };
  return graphs.get(graph_id, { ...config, configurable }, 'assistants.read', context);
}

/** Schemas of subgraphs under both names that clients use. */
export function withLegacyNames(found: Readonly<Record<string, Omit<GraphSchema, 'graph_id'>>>): Subgraphs {
  return Object.fromEntries(Object.entries(found).map(([place, schemas]) => [place, withBothNames(schemas)]));
}

function withBothNames(schemas: Omit<GraphSchema, 'graph_id'>): GraphSchemaNoId {
  const { input_schema: input, output_schema: output, state_schema: state, config_schema: config } = schemas;
  return { ...schemas, input, output, state, config };
}
