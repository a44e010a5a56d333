import { isObject } from '../../core/json.ts';
import type { GraphSchema } from '../../schemas/assistants.ts';
import type { RunnableGraph } from '../runnable.ts';
import type { TypeSchemas } from './extract.ts';
import { DRAFT, MESSAGES_MARKER, MESSAGES_SCHEMA, type Schema } from './message-schema.ts';

export const SCHEMA_LIBRARY = '@langchain/langgraph/zod/schema';

/** LangGraph's own derivation of JSON Schemas from zod: the user's copy of `SCHEMA_LIBRARY`. */
export interface SchemaLibrary {
  getStateTypeSchema(graph: unknown): unknown;
  getInputTypeSchema(graph: unknown): unknown;
  getOutputTypeSchema(graph: unknown): unknown;
  getConfigTypeSchema(graph: unknown): unknown;
}

/**
 * JSON Schemas of a graph: exact if its state is declared with zod, otherwise from its TypeScript types, otherwise an
 * object with the names of its channels that accepts any value. `config_schema` and `context_schema` are the same
 * schema; without one they are `{}` and null (contract §2.1).
 */
export async function graphSchemas(
  graph: RunnableGraph,
  library: SchemaLibrary,
  types: () => Promise<TypeSchemas | undefined>,
): Promise<Omit<GraphSchema, 'graph_id'>> {
  const input = declaredSchema(library.getInputTypeSchema, graph);
  const output = declaredSchema(library.getOutputTypeSchema, graph);
  const state = declaredSchema(library.getStateTypeSchema, graph);
  const context = declaredSchema(library.getConfigTypeSchema, graph);
  const typed = input && output && state ? undefined : await types();
  const { streamChannels, outputChannels, builder, channels } = graph as unknown as Record<string, unknown>;
  const inputs = isObject(builder) && isObject(builder._inputDefinition) ? builder._inputDefinition : {};
  const config = context ?? typed?.context ?? null;
  return {
    input_schema: input ?? typed?.input ?? permissiveSchema(Object.keys(inputs), channels),
    output_schema: output ?? typed?.output ?? permissiveSchema(outputChannels, channels),
    state_schema: state ?? typed?.state ?? permissiveSchema(streamChannels, channels),
    config_schema: config ?? {},
    context_schema: config,
  };
}

/** A schema that LangGraph cannot express as JSON Schema must not fail the others. */
function declaredSchema(derive: (graph: unknown) => unknown, graph: RunnableGraph): Schema | undefined {
  try {
    const schema = derive(graph);
    return isObject(schema) ? normalizeSchema(schema) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * LangGraph marks a list of messages without describing a message, and a StateSchema has a `$schema` in each field
 * instead of at the top.
 */
function normalizeSchema({ $schema = DRAFT, ...schema }: Schema): Schema {
  if (!isObject(schema.properties)) return { $schema, ...schema };
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    if (!isObject(property)) return [name, property];
    const { $schema: _, ...field } = property;
    const isMessages = field.langgraph_type === MESSAGES_MARKER.langgraph_type && !field.type;
    return [name, isMessages ? { ...MESSAGES_SCHEMA, ...field } : field];
  });
  return { $schema, ...schema, properties: Object.fromEntries(properties) };
}

function permissiveSchema(names: unknown, channels: unknown): Schema {
  if (!Array.isArray(names) || names.length === 0) return { type: 'object' };
  const schemaOf = (name: string) => (holdsMessages(channels, name) ? MESSAGES_SCHEMA : {});
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [String(name), schemaOf(String(name))])),
  };
}

/** Detects messages by the name of LangGraph's reducer: the function itself belongs to the project's copy. */
function holdsMessages(channels: unknown, name: string): boolean {
  const channel = isObject(channels) ? channels[name] : undefined;
  const reducer = isObject(channel) ? channel.operator : undefined;
  return typeof reducer === 'function' && reducer.name === 'messagesStateReducer';
}
