import { fromJsonSchema } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../core/json.ts';
import type { ToolSchemas } from '../tool-schemas.ts';

type Validator = (given: JsonObject) => string | undefined;

/** Compiling a schema takes milliseconds; the key lives as long as the assistant's version. */
const validators = new WeakMap<ToolSchemas, Validator>();

/** Validates the arguments of a call. Returns the problems by field, or `undefined` if they are valid. */
export function invalidArguments(schemas: ToolSchemas, given: JsonObject): string | undefined {
  const check = validators.get(schemas) ?? compile(schemas);
  validators.set(schemas, check);
  return check(given);
}

/** A schema that fails to compile validates nothing: the graph then rejects bad arguments itself. */
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
