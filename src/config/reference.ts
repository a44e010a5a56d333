import { z } from 'zod';
import { ConfigFile } from './config-file.ts';

/** One configuration key, for the documentation and error messages. */
export interface ConfigKey {
  /** Dotted: `server.port`. */
  readonly key: string;
  readonly type: string;
  /** Bounds and unit of a number, such as `1–100 attempts`. */
  readonly range: string | undefined;
  /** Undefined if the key has no default. */
  readonly default: unknown;
  readonly description: string;
  /** Accepted, but without effect so far. */
  readonly pending: boolean;
}

/** All keys in schema order; groups are expanded, and `*` stands for a user-defined name. */
export function configKeys(schema: z.ZodType = ConfigFile, path: readonly string[] = []): ConfigKey[] {
  const { inner, value } = unwrap(schema);
  if (inner instanceof z.ZodObject) {
    return Object.entries(inner.shape).flatMap(([name, child]) =>
      configKeys(child as z.ZodType, [...path, name]),
    );
  }
  const meta = { ...inner.meta(), ...schema.meta() };
  const key: ConfigKey = {
    key: path.join('.'),
    type: String(meta['type'] ?? ''),
    range: meta['range'] as string | undefined,
    default: value,
    description: String(meta.description ?? ''),
    pending: meta['pending'] === true,
  };
  return [key, ...nestedGroups(inner).flatMap((group) => configKeys(group, [...path, '*']))];
}

/** Groups nested in a map under user-defined names. */
function nestedGroups(schema: z.ZodType): z.ZodObject[] {
  if (!(schema instanceof z.ZodRecord)) return [];
  const element = schema.valueType;
  const kinds = element instanceof z.ZodUnion ? element.options : [element];
  return kinds.filter((kind) => kind instanceof z.ZodObject);
}

/** Unwraps default, optional and prefault; returns the inner schema and the default. */
function unwrap(schema: z.ZodType): { inner: z.ZodType; value: unknown } {
  if (schema instanceof z.ZodDefault) {
    return { inner: unwrap(schema.def.innerType as z.ZodType).inner, value: schema.def.defaultValue };
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault) {
    return unwrap(schema.def.innerType as z.ZodType);
  }
  return { inner: schema, value: undefined };
}
