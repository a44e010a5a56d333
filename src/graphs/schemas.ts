import { isObject } from '../core/json.ts';
import type { GraphSchema } from '../schemas/assistants.ts';
import type { RunnableGraph } from './runnable.ts';

/** LangGraph's own derivation of JSON Schemas from zod (`@langchain/langgraph/zod/schema`, the user's copy). */
export interface SchemaLibrary {
  getStateTypeSchema(graph: unknown): unknown;
  getInputTypeSchema(graph: unknown): unknown;
  getOutputTypeSchema(graph: unknown): unknown;
  getConfigTypeSchema(graph: unknown): unknown;
}

type Schema = Record<string, unknown>;

/**
 * The JSON Schemas of a graph: exact where its state is declared with zod, else an object with the names of its
 * channels, which accepts any value. `config_schema` and `context_schema` are the same thing; without one they are
 * `{}` and null (CONTRACT §2.1).
 */
export function graphSchemas(graph: RunnableGraph, library: SchemaLibrary): Omit<GraphSchema, 'graph_id'> {
  const { builder, streamChannels, outputChannels } = graph as unknown as Record<string, unknown>;
  const declared: Schema = isObject(builder) ? builder : {};
  const state = exact(library.getStateTypeSchema, graph) ?? permissive(streamChannels);
  const context = exact(library.getConfigTypeSchema, graph) ?? null;
  return {
    input_schema:
      exact(library.getInputTypeSchema, graph) ?? permissive(channelNames(declared._inputDefinition)),
    output_schema: exact(library.getOutputTypeSchema, graph) ?? permissive(outputChannels),
    state_schema: state,
    config_schema: context ?? {},
    context_schema: context,
  };
}

/** A schema that LangGraph cannot express as JSON Schema must not make the others unreadable. */
function exact(derive: (graph: unknown) => unknown, graph: RunnableGraph): Schema | undefined {
  try {
    const schema = derive(graph);
    return isObject(schema) ? schema : undefined;
  } catch {
    return undefined;
  }
}

function permissive(names: unknown): Schema {
  if (!Array.isArray(names) || names.length === 0) return { type: 'object' };
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [String(name), {}])) };
}

function channelNames(definition: unknown): string[] | undefined {
  return isObject(definition) ? Object.keys(definition) : undefined;
}
