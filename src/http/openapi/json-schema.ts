import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { NAMES } from './components.ts';

/** The JSON Schema of a zod schema: a reference where it has a name, with references inside either way. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const name = NAMES.get(schema)?.id;
  return name ? { $ref: `#/components/schemas/${name}` } : definition(schema, io);
}

/** The JSON Schema itself, also of a schema with a name. */
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

/** Says what a reader needs: descriptions and defaults; not how zod checks it. */
function simplify(schema: z.core.$ZodType, json: JsonObject): void {
  const { def } = schema._zod;
  if (def.type === 'default' && json.default === undefined)
    json.default = (def as z.core.$ZodDefaultDef).defaultValue;
  // Requests may have more fields than are known; responses have exactly these.
  const more = json.additionalProperties;
  if (more === false || (typeof more === 'object' && Object.keys(more as object).length === 0)) {
    delete json.additionalProperties;
  }
  delete json.propertyNames;
  if (json.format) delete json.pattern;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  const meta = z.globalRegistry.get(schema);
  // What travels as text in an address and means something else.
  if (meta?.type) for (const key of ['pattern', 'enum']) delete json[key];
  Object.assign(json, meta);
}
