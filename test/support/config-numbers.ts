import { z } from 'zod';
import { ConfigFile } from '../../src/config/config-file.ts';
import { isObject, type JsonObject } from '../../src/core/json.ts';

/** A number of the configuration; `*` stands for a name that the user chooses. */
export interface ConfigNumber {
  readonly key: string;
  readonly min: number | null;
  readonly max: number | null;
}

/** Every number that the schema knows, wherever it is. */
export function configNumbers(schema: z.core.$ZodType = ConfigFile, path: string[] = []): ConfigNumber[] {
  const within = (inner: z.core.$ZodType, name?: string) =>
    configNumbers(inner, name === undefined ? path : [...path, name]);
  if (schema instanceof z.ZodNumber) {
    return [{ key: path.join('.'), min: schema.minValue, max: schema.maxValue }];
  }
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([name, inner]) => within(inner, name));
  }
  if (schema instanceof z.ZodRecord) return within(schema.valueType, '*');
  if (schema instanceof z.ZodArray) return within(schema.element, '*');
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => within(option));
  if (schema instanceof z.ZodPipe) return [...within(schema.in), ...within(schema.out)];
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return within(schema.def.innerType);
  }
  return [];
}

/** Sets a key with dots, and makes the blocks on the way. */
export function setKey(document: JsonObject, key: string, value: unknown): void {
  const names = key.split('.');
  const last = names.pop() as string;
  let block = document;
  for (const name of names) {
    const next = isObject(block[name]) ? block[name] : {};
    block[name] = next;
    block = next;
  }
  block[last] = value;
}
