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
export const ANY_SCHEMAS: ToolSchemas = {
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
  // An assistant that is told nothing has nothing to answer.
  return Object.keys(properties).length === 1 ? { ...changed, required: ['messages'] } : changed;
}

/** Without what a graph tells the protocols' doors; and where anything may stand, it says so in words that clients read. */
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

/** What a state has not been given is missing from the output, so nothing is required of it. */
function outputOf(schema: unknown): JsonObject | undefined {
  const { required: _required, ...object } = asObject(schema);
  const { messages, ...others } = documentedProperties(object) ?? {};
  if (Object.keys(others).length === 0) return undefined;
  const shown = messages === undefined ? others : { ...others, messages: { type: 'array' } };
  return pruneDefinitions({ ...object, properties: shown });
}

function asObject(schema: unknown): JsonObject {
  return { ...(isObject(schema) ? schema : {}), type: 'object' };
}

const KEYWORDS = ['$defs', 'definitions'];

/**
 * The schema without definitions that nothing refers to any more: clients show schemas to models, where each line of
 * them costs.
 */
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

/** Referred to by its own name, which can be anywhere. */
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

/** As the key is written: references escape it twice, as a pointer and as part of an address. */
function decoded(reference: string): string {
  const pointer = reference.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(pointer);
  } catch {
    return pointer;
  }
}
