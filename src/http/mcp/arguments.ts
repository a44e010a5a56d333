import { fromJsonSchema } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../core/json.ts';
import type { ToolSchemas } from '../../services/mcp/tool-schemas.ts';

type Validator = (given: JsonObject) => string | undefined;

/** Compiling a schema takes milliseconds; a tool's schemas live as long as its assistant's version. */
const validators = new WeakMap<ToolSchemas, Validator>();

/** What is wrong with the arguments of a call, by field; undefined when they fit. */
export function invalidArguments(schemas: ToolSchemas, given: JsonObject): string | undefined {
  const check = validators.get(schemas) ?? compile(schemas);
  validators.set(schemas, check);
  return check(given);
}

/** A schema that cannot be compiled checks nothing: the graph itself is the judge then. */
function compile({ accepted }: ToolSchemas): Validator {
  try {
    const { validate } = fromJsonSchema(accepted as never)['~standard'];
    return (given) => {
      const result = validate(given);
      if (result instanceof Promise || result.issues === undefined) return undefined;
      return `Invalid arguments: ${result.issues.map(sentence).join('; ')}`;
    };
  } catch {
    return () => undefined;
  }
}

function sentence({
  message,
  path = [],
}: {
  message: string;
  path?: readonly unknown[] | undefined;
}): string {
  const field = path
    .map((key) => (typeof key === 'object' ? (key as { key: PropertyKey }).key : key))
    .join('.');
  return field === '' ? message : `${field}: ${message}`;
}
