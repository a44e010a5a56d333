import { isObject, type JsonObject } from '../../core/json.ts';
import type { GraphSchema } from '../../schemas/assistants.ts';
import { withUsedDefinitions } from './used-definitions.ts';

export interface ToolSchemas {
  /** As clients see it: a list of messages is one string. */
  readonly input: JsonObject;
  /** What arguments are checked against: the messages may also be a list. */
  readonly accepted: JsonObject;
  /** Undefined where a text says everything: the graph returns messages and nothing else. */
  readonly output: JsonObject | undefined;
}

const ANY_TYPE = ['string', 'number', 'boolean', 'object', 'array', 'null'];
const TEXT = { type: 'string', description: 'What to tell the assistant.' };
const MESSAGES = {
  type: 'array',
  items: {
    type: 'object',
    properties: { role: { type: 'string' }, content: {} },
    required: ['content'],
  },
};

/** Of a graph whose schemas are not known yet. */
export const ANYTHING: ToolSchemas = {
  input: { type: 'object' },
  accepted: { type: 'object' },
  output: undefined,
};

/** The schemas of a tool from those of its graph; every keyword of them is kept. */
export function toolSchemas({
  input_schema,
  output_schema,
}: Pick<GraphSchema, 'input_schema' | 'output_schema'>) {
  const schemas: ToolSchemas = {
    input: withUsedDefinitions(withMessages(input_schema, TEXT)),
    accepted: withUsedDefinitions(withMessages(input_schema, { anyOf: [TEXT, MESSAGES] })),
    output: outputOf(output_schema),
  };
  return schemas;
}

function withMessages(schema: unknown, messages: JsonObject): JsonObject {
  const object = asObject(schema);
  const properties = described(object);
  if (!properties) return object;
  if (!('messages' in properties)) return { ...object, properties };
  const changed = { ...object, properties: { ...properties, messages } };
  // An assistant that is told nothing has nothing to answer.
  return Object.keys(properties).length === 1 ? { ...changed, required: ['messages'] } : changed;
}

/** Without what a graph tells the protocols' doors; and where anything may stand, it says so in words that clients read. */
function described({ properties }: JsonObject): JsonObject | undefined {
  if (!isObject(properties)) return undefined;
  const { mcp: _mcp, a2a: _a2a, ...others } = properties;
  return Object.fromEntries(
    Object.entries(others).map(([name, type]) => [
      name,
      isObject(type) && Object.keys(type).length === 0 ? { type: ANY_TYPE } : type,
    ]),
  );
}

/** What a state has not been given is missing from the output, so nothing is required of it. */
function outputOf(schema: unknown): JsonObject | undefined {
  const { required: _required, ...object } = asObject(schema);
  const { messages, ...others } = described(object) ?? {};
  if (Object.keys(others).length === 0) return undefined;
  const shown = messages === undefined ? others : { ...others, messages: { type: 'array' } };
  return withUsedDefinitions({ ...object, properties: shown });
}

function asObject(schema: unknown): JsonObject {
  return { ...(isObject(schema) ? schema : {}), type: 'object' };
}
