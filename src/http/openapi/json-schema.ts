import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { NAMES } from '../../schemas/named.ts';

/** JSON Schema of a zod schema: a reference if the schema is named; nested named schemas are always references. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const name = NAMES.get(schema)?.id;
  return name ? { $ref: `#/components/schemas/${name}` } : definition(schema, io);
}

/** The JSON Schema itself, even if the schema is named. */
export function definition(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema, $defs, ...body } = z.toJSONSchema(schema, {
    io,
    metadata: NAMES,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => simplify(zodSchema, jsonSchema as JsonObject),
  });
  const name = NAMES.get(schema)?.id;
  const own = (name && $defs?.[name]) || body;
  return JSON.parse(JSON.stringify(own).replaceAll('"#/$defs/', '"#/components/schemas/'));
}

/** Keeps descriptions and defaults, and drops constraints that only matter to zod. */
function simplify(schema: z.core.$ZodType, json: JsonObject): void {
  const { def } = schema._zod;
  if (def.type === 'default' && json.default === undefined)
    json.default = (def as z.core.$ZodDefaultDef).defaultValue;
  // Requests allow unknown fields; responses have exactly these.
  const more = json.additionalProperties;
  if (more === false || (typeof more === 'object' && Object.keys(more as object).length === 0)) {
    delete json.additionalProperties;
  }
  delete json.propertyNames;
  if (json.format) delete json.pattern;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  const meta = z.globalRegistry.get(schema);
  // Declared type of a parameter that travels as text in the URL.
  if (meta?.type) for (const key of ['pattern', 'enum']) delete json[key];
  Object.assign(json, meta);
}
