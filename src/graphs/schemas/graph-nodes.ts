import { realpathSync } from 'node:fs';
import { tryOrUndefined } from '../../core/failure.ts';
import { type FunctionLocation, functionLocations } from '../../core/function-locations.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { CodeLocation, GraphNode, GraphTool } from '../../schemas/assistants.ts';
import { type RunnableGraph, subgraphOf } from '../runnable.ts';

export const TOOL_SCHEMA_LIBRARY = '@langchain/core/utils/json_schema';

/** LangChain's own conversion of what a tool declares, zod or JSON Schema: the user's copy of `TOOL_SCHEMA_LIBRARY`. */
export interface ToolSchemaLibrary {
  toJsonSchema(schema: unknown): unknown;
}

interface FoundNode {
  readonly id: string;
  /** LangGraph's runnable, which the node executes. */
  readonly code: unknown;
  readonly can_run_alone: boolean;
}

/**
 * The nodes of a graph and of its subgraphs, named as in an x-rayed drawing. Sources are relative to `root`; code outside it
 * gets no source, and without a root no source is looked for.
 */
export async function graphNodes(
  graph: RunnableGraph,
  library: ToolSchemaLibrary,
  root: string | undefined,
): Promise<GraphNode[]> {
  const found = nodesIn(graph, '', true);
  for await (const [namespace, subgraph] of graph.getSubgraphsAsync?.(undefined, true) ?? []) {
    const names = namespace.split('|');
    found.push(...nodesIn(subgraph, `${names.join(':')}:`, isMadeOfGraphs(graph, names)));
  }
  const sources = root === undefined ? [] : sourcesOf(found, root);
  return found.map(({ id, code, can_run_alone }, i) => ({
    id,
    can_run_alone,
    tools: toolsOf(code, library),
    source: sources[i] ?? null,
  }));
}

/** Whether each of the names on the way is a graph: one that code of a node calls is not reached by a run. */
function isMadeOfGraphs(graph: RunnableGraph, names: readonly string[]): boolean {
  let within: RunnableGraph | undefined = graph;
  for (const name of names) within = within && subgraphOf(within, name);
  return within !== undefined;
}

function nodesIn(graph: RunnableGraph, prefix: string, can_run_alone: boolean): FoundNode[] {
  const { nodes } = graph as { nodes?: unknown };
  if (!isObject(nodes)) return [];
  return Object.entries(nodes)
    .filter(([name]) => !name.startsWith('__'))
    .map(([name, node]) => ({
      id: `${prefix}${name}`,
      code: isObject(node) ? node.bound : undefined,
      can_run_alone,
    }));
}

/** The function that was given to `addNode` is in the runnable that LangGraph makes of it. */
function sourcesOf(nodes: readonly FoundNode[], root: string): (CodeLocation | undefined)[] {
  const functions = nodes.map(({ code }) => (code as { func?: unknown } | undefined)?.func);
  const roots = [root, tryOrUndefined(() => realpathSync(root)) ?? root];
  return functionLocations(functions).map((place) => place && below(roots, place));
}

/** Absolute paths stay on the server. */
function below(roots: readonly string[], { file, line }: FunctionLocation): CodeLocation | undefined {
  const root = roots.find((each) => file.startsWith(`${each}/`));
  return root === undefined ? undefined : { path: file.slice(root.length + 1), file: null, line };
}

/**
 * Detects tool nodes by shape: LangGraph and LangChain have a `ToolNode` each, and the project its own copies of both.
 */
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
  const converted = tryOrUndefined(() => toJsonSchema(schema));
  return isObject(converted) ? converted : null;
}
