import { isObject, type JsonObject } from '../../core/json.ts';
import type { GraphNode, GraphTool } from '../../schemas/assistants.ts';
import type { RunnableGraph } from '../runnable.ts';

export const TOOL_SCHEMA_LIBRARY = '@langchain/core/utils/json_schema';

/** LangChain's own conversion of what a tool declares, zod or JSON Schema: the user's copy of `TOOL_SCHEMA_LIBRARY`. */
export interface ToolSchemaLibrary {
  toJsonSchema(schema: unknown): unknown;
}

/** The nodes of a graph and of its subgraphs, named as in an x-rayed drawing. */
export async function graphNodes(graph: RunnableGraph, library: ToolSchemaLibrary): Promise<GraphNode[]> {
  const nodes = nodesIn(graph, '', library);
  for await (const [namespace, subgraph] of graph.getSubgraphsAsync?.(undefined, true) ?? []) {
    nodes.push(...nodesIn(subgraph, `${namespace.replaceAll('|', ':')}:`, library));
  }
  return nodes;
}

function nodesIn(graph: RunnableGraph, prefix: string, library: ToolSchemaLibrary): GraphNode[] {
  const { nodes } = graph as { nodes?: unknown };
  if (!isObject(nodes)) return [];
  return Object.entries(nodes)
    .filter(([name]) => !name.startsWith('__'))
    .map(([name, node]) => ({
      id: `${prefix}${name}`,
      tools: toolsOf(isObject(node) ? node.bound : undefined, library),
    }));
}

/** By shape: LangGraph and LangChain have a `ToolNode` each, and the project its own copies of both. */
function toolsOf(code: unknown, { toJsonSchema }: ToolSchemaLibrary): GraphTool[] {
  const tools = (code as { tools?: unknown } | undefined)?.tools;
  return Array.isArray(tools) ? tools.filter(isTool).map((tool) => toolOf(tool, toJsonSchema)) : [];
}

interface Tool {
  readonly name: string;
  readonly description?: unknown;
  readonly schema?: unknown;
}

function isTool(value: unknown): value is Tool {
  return isObject(value) && typeof value.name === 'string' && typeof value.invoke === 'function';
}

function toolOf({ name, description, schema }: Tool, toJsonSchema: (schema: unknown) => unknown): GraphTool {
  return {
    name,
    description: typeof description === 'string' ? description : '',
    input_schema: schemaOf(schema, toJsonSchema),
  };
}

/** A schema that cannot be expressed as JSON Schema must not fail the others. */
function schemaOf(schema: unknown, toJsonSchema: (schema: unknown) => unknown): JsonObject | null {
  try {
    const converted = toJsonSchema(schema);
    return isObject(converted) ? converted : null;
  } catch {
    return null;
  }
}
