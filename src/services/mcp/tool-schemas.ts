import { isObject, type JsonObject } from '../../core/json.ts';
import type { GraphSchema } from '../../schemas/assistants.ts';

export interface ToolSchemas {
  /** As clients see it: a list of messages is one string. */
  readonly input: JsonObject;
  /** What arguments are checked against: the messages may also be a list. */
  readonly accepted: JsonObject;
  /** Undefined where a text says everything: the graph returns messages and nothing else. */
  readonly output: JsonObject | undefined;
}

const TEXT = { type: 'string', description: 'What to tell the assistant.' };
const MESSAGES = {
  type: 'array',
  items: {
    type: 'object',
    properties: { role: { type: 'string' }, content: {} },
    required: ['content'],
  },
};

/** The schemas of a tool from those of its graph; every keyword of them is kept. */
export function toolSchemas({
  input_schema,
  output_schema,
}: Pick<GraphSchema, 'input_schema' | 'output_schema'>) {
  const schemas: ToolSchemas = {
    input: withMessages(input_schema, TEXT),
    accepted: withMessages(input_schema, { anyOf: [TEXT, MESSAGES] }),
    output: outputOf(output_schema),
  };
  return schemas;
}

function withMessages(schema: unknown, messages: JsonObject): JsonObject {
  const object = asObject(schema);
  const properties = object['properties'];
  if (!isObject(properties) || !('messages' in properties)) return object;
  const changed = { ...object, properties: { ...properties, messages } };
  // An assistant that is told nothing has nothing to answer.
  return Object.keys(properties).length === 1 ? { ...changed, required: ['messages'] } : changed;
}

/** What a state has not been given is missing from the output, so nothing is required of it. */
function outputOf(schema: unknown): JsonObject | undefined {
  const { required: _required, ...object } = asObject(schema);
  const properties = object['properties'];
  if (!isObject(properties)) return undefined;
  const { messages, ...others } = properties;
  if (Object.keys(others).length === 0) return undefined;
  return {
    ...object,
    properties: messages === undefined ? others : { ...others, messages: { type: 'array' } },
  };
}

function asObject(schema: unknown): JsonObject {
  return { ...(isObject(schema) ? schema : {}), type: 'object' };
}
