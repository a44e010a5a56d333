import { isObject, type JsonObject } from '../api/values.ts';

/** Levels of an example: deeper ones are left out. */
const DEPTH = 3;

/** The type of a JSON Schema in words, such as `text`, `whole number` or `list of objects`; empty if it is unknown. */
export function typeInWords(schema: JsonObject): string {
  const [one, ...others] = branchesOf(schema);
  if (one === undefined || others.length > 0) return '';
  if (one['enum'] !== undefined) return 'choice';
  if (one['type'] === 'array') {
    const items = isObject(one['items']) ? typeInWords(one['items']) : '';
    return PLURALS[items] === undefined ? 'list' : `list of ${PLURALS[items]}`;
  }
  return WORDS[String(one['type'])] ?? '';
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'yes or no',
  object: 'object',
};

const PLURALS: Readonly<Record<string, string>> = {
  text: 'texts',
  'whole number': 'whole numbers',
  number: 'numbers',
  object: 'objects',
};

/** An example of the schema, as it is typed: its own, or one made from its types. Empty if its type is unknown. */
export function exampleOf(schema: JsonObject): string {
  const own = Array.isArray(schema['examples']) ? schema['examples'][0] : schema['example'];
  if (own !== undefined) return typeof own === 'string' ? own : JSON.stringify(own);
  const [one] = branchesOf(schema);
  // A made text or number would add nothing to the type.
  if (one?.['type'] !== 'array' && one?.['type'] !== 'object') return '';
  const made = valueLike(one, DEPTH);
  return made === undefined ? '' : JSON.stringify(made);
}

/** The alternatives of a schema, without `null`. */
function branchesOf(schema: JsonObject): readonly JsonObject[] {
  const branches = ['anyOf', 'oneOf'].flatMap((name) => (Array.isArray(schema[name]) ? schema[name] : []));
  if (branches.length > 0) return branches.filter(isObject).flatMap(branchesOf);
  const types = [schema['type']].flat().filter((type) => type !== 'null');
  return schema['type'] === 'null' ? [] : types.map((type) => ({ ...schema, type }));
}

function valueLike(schema: JsonObject, depth: number): unknown {
  const [one] = branchesOf(schema);
  if (!one || depth === 0) return undefined;
  const { default: usual } = one;
  if (usual !== undefined && !EMPTY.has(JSON.stringify(usual))) return usual;
  if (Array.isArray(one['enum'])) return one['enum'][0];
  if (one['type'] === 'array') {
    const item = isObject(one['items']) ? valueLike(one['items'], depth - 1) : undefined;
    return item === undefined ? undefined : [item];
  }
  if (one['type'] === 'object') {
    const properties = isObject(one['properties']) ? Object.entries(one['properties']) : [];
    const made = properties.map(([name, each]) => [
      name,
      isObject(each) ? valueLike(each, depth - 1) : undefined,
    ]);
    const known = made.filter(([, value]) => value !== undefined);
    return known.length === 0 ? undefined : Object.fromEntries(known);
  }
  return SAMPLES[String(one['type'])];
}

/** Defaults that are no example. */
const EMPTY = new Set(['[]', '{}', '""', 'null']);

const SAMPLES: Readonly<Record<string, unknown>> = { string: 'text', integer: 1, number: 1.5, boolean: true };
