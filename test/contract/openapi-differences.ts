/** The parts of an OpenAPI document that are compared. */
export interface OpenApiDocument {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema> };
}

export interface Operation {
  readonly parameters?: Parameter[];
  readonly requestBody?: { readonly content: Record<string, Media>; readonly required?: boolean };
  readonly responses: Record<string, { readonly $ref?: string; readonly content?: Record<string, Media> }>;
  readonly [field: string]: unknown;
}

export interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | string[];
  readonly enum?: unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly anyOf?: Schema[];
  readonly oneOf?: Schema[];
  readonly allOf?: Schema[];
  readonly items?: Schema;
  readonly properties?: Record<string, Schema>;
  readonly required?: string[];
  readonly additionalProperties?: Schema | boolean;
}

/** One line for each difference of `ours` to the official document: operations, parameters, statuses and schemas. */
export function differences(official: OpenApiDocument, ours: OpenApiDocument): string[] {
  const lines: string[] = [];
  const schemas = new SchemaComparison(official, ours, lines);
  const theirs = operationsOf(official);
  const here = operationsOf(ours);
  for (const [name, operation] of theirs) {
    const other = here.get(name);
    if (other) compareOperations(name, operation, other, schemas, lines);
    else lines.push(`${name}: not here`);
  }
  for (const name of here.keys()) if (!theirs.has(name)) lines.push(`${name}: only here`);
  return [...new Set(lines)].sort();
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch']);

function operationsOf({ paths }: OpenApiDocument): Map<string, Operation> {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
  );
  return new Map(all);
}

function compareOperations(
  name: string,
  official: Operation,
  ours: Operation,
  schemas: SchemaComparison,
  lines: string[],
): void {
  const keyed = (parameters: Parameter[] = []) =>
    Object.fromEntries(parameters.map((each) => [`${each.in} ${each.name.toLowerCase()}`, each]));
  pairs(name, keyed(official.parameters), keyed(ours.parameters), lines, (path, a, b) => {
    if ((a.required ?? false) !== (b.required ?? false)) lines.push(`${path}: ${requiredText(b.required)}`);
    schemas.compare(path, a.schema, b.schema);
  });
  const bodies = ({ requestBody }: Operation) => (requestBody ? { body: requestBody } : {});
  pairs(name, bodies(official), bodies(ours), lines, (path, a, b) => {
    if ((a.required ?? false) !== (b.required ?? false)) lines.push(`${path}: ${requiredText(b.required)}`);
    pairs(path, a.content, b.content, lines, (_type, x, y) => schemas.compare(path, x.schema, y.schema));
  });
  pairs(name, official.responses, ours.responses, lines, (path, a, b) => {
    if (a.$ref) return;
    pairs(path, a.content ?? {}, b.content ?? {}, lines, (_type, x, y) =>
      schemas.compare(path, x.schema, y.schema),
    );
  });
}

function requiredText(required: boolean | undefined): string {
  return required ? 'required here' : 'optional here';
}

/** Lines for what one side alone has, and `both` for the rest. */
function pairs<T>(
  path: string,
  official: Record<string, T>,
  ours: Record<string, T>,
  lines: string[],
  both: (path: string, official: T, ours: T) => void,
): void {
  for (const [key, value] of Object.entries(official)) {
    const other = ours[key];
    if (other === undefined) lines.push(`${path}: ${key} not here`);
    else both(`${path}: ${key}`, value, other);
  }
  for (const key of Object.keys(ours)) if (!(key in official)) lines.push(`${path}: ${key} only here`);
}

/** Compares schemas; a named one once, under our name, wherever it is used. */
class SchemaComparison {
  readonly #official: OpenApiDocument;
  readonly #ours: OpenApiDocument;
  readonly #lines: string[];
  readonly #seen = new Set<string>();

  constructor(official: OpenApiDocument, ours: OpenApiDocument, lines: string[]) {
    this.#official = official;
    this.#ours = ours;
    this.#lines = lines;
  }

  compare(path: string, official: Schema, ours: Schema): void {
    const a = notNull(official);
    const b = notNull(ours);
    const [from, to] = [kindOf(a.schema, this.#official), kindOf(b.schema, this.#ours)];
    if (from !== to) {
      this.#lines.push(`${path}: ${from} is ${to} here`);
      return;
    }
    if (a.nullable !== b.nullable && from !== 'any') {
      this.#lines.push(`${path}: ${b.nullable ? 'may be null here' : 'is never null here'}`);
    }
    this.#inside(path, a.schema, b.schema);
  }

  #inside(path: string, official: Schema, ours: Schema): void {
    const [theirName, ourName] = [nameOf(official), nameOf(ours)];
    const pair = `${theirName} ${ourName}`;
    if (theirName && ourName && this.#seen.has(pair)) return;
    this.#seen.add(pair);
    const label = theirName && ourName ? ourName : path;
    const [a, b] = [resolve(official, this.#official), resolve(ours, this.#ours)];
    if (a.items && b.items) this.compare(`${label}[]`, a.items, b.items);
    if (a.type === 'object') this.#objects(label, a, b);
  }

  #objects(path: string, official: Schema, ours: Schema): void {
    const [a, b] = [official.properties ?? {}, ours.properties ?? {}];
    pairs(path, a, b, this.#lines, (property, x, y) => {
      const key = property.slice(path.length + 2);
      const required = ours.required?.includes(key) ?? false;
      if ((official.required?.includes(key) ?? false) !== required) {
        this.#lines.push(`${property}: ${requiredText(required)}`);
      }
      this.compare(property, x, y);
    });
    const [rest, ourRest] = [official.additionalProperties, ours.additionalProperties];
    if (typeof rest === 'object' && typeof ourRest === 'object') this.compare(`${path}: *`, rest, ourRest);
    else if (typeof rest !== typeof ourRest)
      this.#lines.push(`${path}: * ${rest ? 'not here' : 'only here'}`);
  }
}

function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1);
}

/** Without references and `allOf` at the top. */
function resolve(schema: Schema, document: OpenApiDocument): Schema {
  const name = nameOf(schema);
  if (name) return resolve(document.components.schemas[name] as Schema, document);
  if (!schema.allOf) return schema;
  const parts = schema.allOf.map((part) => resolve(part, document));
  return {
    type: 'object',
    properties: Object.assign({}, ...parts.map((part) => part.properties ?? {})),
    required: parts.flatMap((part) => part.required ?? []),
  };
}

const isNull = (schema: Schema) => schema.type === 'null';

function notNull(schema: Schema): { schema: Schema; nullable: boolean } {
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms?.some(isNull)) {
    const rest = forms.filter((form) => !isNull(form));
    return { schema: rest.length === 1 ? (rest[0] as Schema) : { anyOf: rest }, nullable: true };
  }
  if (!Array.isArray(schema.type) || !schema.type.includes('null')) return { schema, nullable: false };
  const types = schema.type.filter((type) => type !== 'null');
  return { schema: { ...schema, type: types.length === 1 ? (types[0] as string) : types }, nullable: true };
}

/** What a value may be, in a few words; null left out. Objects are looked into elsewhere. */
function kindOf(given: Schema, document: OpenApiDocument): string {
  const schema = notNull(resolve(given, document)).schema;
  const forms = schema.anyOf ?? schema.oneOf;
  const kinds = forms?.map((form) => kindOf(form, document)) ?? kindsOfType(schema, document);
  const all = [...new Set(kinds.flatMap((kind) => kind.split(' | ')))].sort();
  const isAnything = ['boolean', 'number', 'object', 'string'].every((kind) => all.includes(kind));
  return all.length === 0 || all.includes('any') || isAnything ? 'any' : all.join(' | ');
}

function kindsOfType(schema: Schema, document: OpenApiDocument): string[] {
  if (schema.$ref) return [kindOf(schema, document)];
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (choices) return [`one of ${[...choices].sort().join(', ')}`];
  return [schema.type ?? []].flat().map((type) => {
    if (type === 'array') return schema.items ? `list of ${kindOf(schema.items, document)}` : 'list of any';
    return schema.format ? `${type} (${schema.format})` : type;
  });
}
