/** A number that a request may hold, as the OpenAPI document describes it. */
export interface RequestNumber {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Where it is: in the query, or in the body, by the keys that lead to it. */
  readonly place: 'query' | 'body';
  readonly keys: readonly (string | number)[];
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** The example of the body. */
  readonly example: unknown;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | string[];
  readonly enum?: unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: Schema[];
  readonly items?: Schema;
  readonly properties?: Record<string, Schema>;
}

interface Described {
  readonly operationId: string;
  readonly parameters?: { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Record<string, { schema: Schema; example?: unknown }> };
}

export interface Document {
  readonly paths: Record<string, Record<string, Described>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

type Found = Pick<RequestNumber, 'keys' | 'min' | 'max'>;

/** Every number in queries and bodies, also inside objects and lists; one of a few is none. */
export function requestNumbers({ paths, components }: Document): RequestNumber[] {
  function within(schema: Schema, keys: readonly (string | number)[] = []): Found[] {
    if (schema.$ref) return within(components.schemas[schema.$ref.split('/').at(-1) as string] ?? {}, keys);
    const isOpen = schema.enum === undefined;
    const isNumber =
      isOpen && [schema.type ?? []].flat().some((type) => type === 'integer' || type === 'number');
    return [
      ...(isNumber ? [{ keys, min: schema.minimum, max: schema.maximum }] : []),
      ...(schema.anyOf ?? []).flatMap((form) => within(form, keys)),
      ...(schema.items ? within(schema.items, [...keys, 0]) : []),
      ...Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => within(inner, [...keys, key])),
    ];
  }

  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([name, { operationId, parameters = [], requestBody }]) => {
      const media = Object.values(requestBody?.content ?? {})[0];
      const common = {
        operation: operationId,
        method: name.toUpperCase() as RequestNumber['method'],
        path,
        example: media?.example,
      };
      const queries = parameters.filter((each) => each.in === 'query');
      return [
        ...queries.flatMap(({ name, schema }) =>
          within(schema, [name]).map((found) => ({ ...common, ...found, place: 'query' as const })),
        ),
        ...within(media?.schema ?? {}).map((found) => ({ ...common, ...found, place: 'body' as const })),
      ];
    }),
  );
}

/** A copy of `body` with `value` at the place that the keys lead to; what is missing on the way is made. */
export function withValue(
  body: unknown,
  [key, ...rest]: readonly (string | number)[],
  value: unknown,
): unknown {
  if (key === undefined) return value;
  if (typeof key === 'number') return [withValue(Array.isArray(body) ? body[key] : undefined, rest, value)];
  const object = (body ?? {}) as Record<string, unknown>;
  return { ...object, [key]: withValue(object[key], rest, value) };
}
