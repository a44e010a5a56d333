import { z } from 'zod';

type Schema = z.core.$ZodType & { readonly _zod: { readonly def: Definition } };

/** The fields of all kinds of definitions that lead to other schemas. */
interface Definition {
  readonly type: string;
  readonly format?: string;
  readonly checks?: readonly z.core.$ZodCheck[];
  readonly parts?: readonly unknown[];
  readonly shape?: Record<string, Schema>;
  readonly element?: Schema;
  readonly options?: readonly Schema[];
  readonly items?: readonly Schema[];
  readonly innerType?: Schema;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
  readonly in?: Schema;
  readonly out?: Schema;
  readonly left?: Schema;
  readonly right?: Schema;
}

/** Formats whose own pattern bounds the length. */
const BOUNDED_FORMATS: ReadonlySet<string | undefined> = new Set(['guid', 'uuid', 'date']);

/**
 * The places of a request schema where a client may send a text, a list or a map of any size. JSON that the server does
 * not interpret (`z.unknown()`, lists and maps of it, fields that no schema names) is free: the body limit bounds it.
 */
export function unboundedPlaces(schema: unknown, place: string): string[] {
  const { def } = (schema as Schema)._zod;
  const isBounded = hasMaximum(schema as Schema);
  switch (def.type) {
    case 'string':
      return isBounded || BOUNDED_FORMATS.has(def.format) ? [] : [`${place}: text`];
    case 'template_literal':
      return (def.parts ?? [])
        .filter((part) => typeof part === 'object' && part !== null)
        .flatMap((part) => unboundedPlaces(part, place));
    case 'array':
      if (isFree(def.element)) return [];
      return [...(isBounded ? [] : [`${place}: list`]), ...unboundedPlaces(def.element, `${place}[]`)];
    case 'record':
      if (isFree(def.valueType)) return [];
      return [
        ...(isBounded ? [] : [`${place}: map`]),
        ...unboundedPlaces(def.keyType, `${place}{key}`),
        ...unboundedPlaces(def.valueType, `${place}{}`),
      ];
    case 'pipe':
      // A transformation's output is only as bounded as what it is made of, or what checks it afterwards.
      return [def.in, def.out]
        .filter((each) => each?._zod.def.type !== 'transform')
        .flatMap((each) => unboundedPlaces(each, place));
    case 'object':
      return Object.entries(def.shape ?? {}).flatMap(([name, field]) =>
        unboundedPlaces(field, `${place}.${name}`),
      );
    default:
      return [
        ...(def.options ?? []),
        ...(def.items ?? []),
        ...[def.innerType, def.left, def.right].filter((each) => each !== undefined),
      ].flatMap((each) => unboundedPlaces(each, place));
  }
}

/** Of the length of a text or list, or of the number of keys. */
function hasMaximum(schema: Schema): boolean {
  const checks = schema._zod.def.checks ?? [];
  if (checks.some(({ _zod }) => ['max_length', 'length_equals'].includes(_zod.def.check))) return true;
  return z.globalRegistry.get(schema)?.['maxProperties'] !== undefined;
}

function isFree(schema: Schema | undefined): boolean {
  return schema?._zod.def.type === 'unknown';
}
