import { isObject, type JsonObject } from '../../core/json.ts';
import type { GraphSchema } from '../../schemas/assistants.ts';

export interface ToolSchemas {
  /** Published to clients: `messages` is one string. */
  readonly input: JsonObject;
  /** Validates arguments: `messages` may also be a list. */
  readonly accepted: JsonObject;
  /** `undefined` if the graph returns only messages, which the text content carries. */
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

/** Fallback for a graph whose schemas are not known yet. */
export const ANY_SCHEMAS: ToolSchemas = {
  input: { type: 'object' },
  accepted: { type: 'object' },
  output: undefined,
};

/** Derives a tool's schemas from those of its graph; preserves every keyword. */
export function toolSchemas({
  input_schema,
  output_schema,
}: Pick<GraphSchema, 'input_schema' | 'output_schema'>) {
  const schemas: ToolSchemas = {
    input: pruneDefinitions(withMessages(input_schema, TEXT)),
    accepted: pruneDefinitions(withMessages(input_schema, { anyOf: [TEXT, MESSAGES] })),
    output: outputOf(output_schema),
  };
  return schemas;
}

function withMessages(schema: unknown, messages: JsonObject): JsonObject {
  const object = asObject(schema);
  const properties = documentedProperties(object);
  if (!properties) return object;
  if (!('messages' in properties)) return { ...object, properties };
  const changed = { ...object, properties: { ...properties, messages } };
  // A graph whose only input is messages needs at least one.
  return Object.keys(properties).length === 1 ? { ...changed, required: ['messages'] } : changed;
}

/** Drops the keys of the protocol adapters, and spells out `{}` as a list of types that clients understand. */
function documentedProperties({ properties }: JsonObject): JsonObject | undefined {
  if (!isObject(properties)) return undefined;
  const { mcp: _mcp, a2a: _a2a, ...others } = properties;
  return Object.fromEntries(
    Object.entries(others).map(([name, type]) => [
      name,
      isObject(type) && Object.keys(type).length === 0 ? { type: ANY_TYPE } : type,
    ]),
  );
}

/**
 * Drops `required`: state keys that were never written are missing from the output. Also drops `additionalProperties`: clients
 * check the questions of an interrupted run against the schema as well.
 */
function outputOf(schema: unknown): JsonObject | undefined {
  const { required: _required, additionalProperties: _additional, ...object } = asObject(schema);
  const { messages, ...others } = documentedProperties(object) ?? {};
  if (Object.keys(others).length === 0) return undefined;
  const properties = messages === undefined ? others : { ...others, messages: { type: 'array' } };
  return pruneDefinitions({ ...object, properties });
}

function asObject(schema: unknown): JsonObject {
  return { ...(isObject(schema) ? schema : {}), type: 'object' };
}

const KEYWORDS = ['$defs', 'definitions'];

/** Drops unreferenced definitions: clients pass schemas to models, where each line costs tokens. */
export function pruneDefinitions(schema: JsonObject): JsonObject {
  const { $defs: _defs, definitions: _definitions, ...rest } = schema;
  const all = KEYWORDS.flatMap((keyword) => entriesOf(schema, keyword));
  const used = new Set<string>();
  const follow = (value: unknown) => {
    for (const reference of referencesIn(value)) {
      if (used.has(reference)) continue;
      used.add(reference);
      follow(all.find((each) => each.reference === reference)?.definition);
    }
  };
  follow(rest);
  const usedDefinitions = KEYWORDS.map((keyword) => [
    keyword,
    Object.fromEntries(
      entriesOf(schema, keyword)
        .filter(({ reference, definition }) => used.has(reference) || isNamed(definition))
        .map(({ name, definition }) => [name, definition]),
    ),
  ]);
  return {
    ...rest,
    ...Object.fromEntries(usedDefinitions.filter(([, names]) => Object.keys(names as object).length > 0)),
  };
}

function entriesOf(schema: JsonObject, keyword: string) {
  const definitions = schema[keyword];
  if (!isObject(definitions)) return [];
  return Object.entries(definitions).map(([name, definition]) => ({
    name,
    definition,
    reference: `#/${keyword}/${name}`,
  }));
}

/** Referenced by `$anchor` or `$id`, which may be used anywhere. */
function isNamed(definition: unknown): boolean {
  return isObject(definition) && ('$anchor' in definition || '$id' in definition);
}

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  const { $ref: reference, ...others } = value;
  const own = typeof reference === 'string' ? [decoded(reference)] : [];
  return [...own, ...Object.values(others).flatMap(referencesIn)];
}

/** Decodes a reference: JSON Pointer escapes inside URI percent-encoding. */
function decoded(reference: string): string {
  const pointer = reference.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}
