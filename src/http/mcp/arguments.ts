import { fromJsonSchema } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../core/json.ts';
import type { ToolSchemas } from '../../services/mcp/tool-schemas.ts';

type Check = (given: JsonObject) => string | undefined;

/** Compiling a schema takes milliseconds; a tool's schemas live as long as its assistant's version. */
const checks = new WeakMap<ToolSchemas, Check>();

/** What is wrong with the arguments of a call, by field; undefined when they fit. */
export function argumentProblem(schemas: ToolSchemas, given: JsonObject): string | undefined {
  const check = checks.get(schemas) ?? compile(schemas);
  checks.set(schemas, check);
  return check(given);
}

/** A schema that cannot be compiled checks nothing: the graph itself is the judge then. */
function compile({ accepted }: ToolSchemas): Check {
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
