import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, FastifyServerOptions, FastifyTypeProvider } from 'fastify';
import type { z } from 'zod';
import { didYouMean } from '../../core/did-you-mean.ts';
import { InvalidInput } from '../../core/errors.ts';
import { toJson } from '../../core/json.ts';
import { hasList, toJsonInSlices } from '../../core/json-slices.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** Description of the route's tag; set on one route of the tag, unless `GROUPS` has it. */
    tag_description?: string;
    /** Goes with `tag_description`: the tag of `GROUPS` that it follows in the document. */
    tag_after?: string;
    /** Request body for the documentation; valid as is. */
    example?: unknown;
    /** Status → a `detail` that the route returns, besides those common to all routes (401, 422). */
    failures?: Readonly<Record<number, string>>;
    /** Response header → its description. */
    response_headers?: Readonly<Record<string, string>>;
  }
}

/** Zod type provider: handlers receive the schema's output, and their return value is checked at compile time. */
export interface ZodTypeProvider extends FastifyTypeProvider {
  validator: this['schema'] extends z.ZodType ? z.output<this['schema']> : unknown;
  serializer: this['schema'] extends z.ZodType ? z.input<this['schema']> : unknown;
}

type CompilerFactories = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>;

/**
 * Compilers for Fastify's options: request schemas are zod's. Responses are not validated at run time, which
 * took 110 µs for 100 small objects, against 32 µs for JSON.stringify alone. With `setValidatorCompiler`
 * instead, Fastify would first load its own compilers of JSON Schema: 110 modules that no route uses.
 */
export const ZOD_COMPILERS = {
  buildValidator:
    () =>
    ({ schema, httpPart }: { schema: z.ZodType; httpPart?: string }) =>
      validator(schema, httpPart ?? 'body'),
  buildSerializer: () => () => toJson,
} as unknown as Required<CompilerFactories>;

/** Prints lists in slices: all other requests would wait for one of 64 MB. */
export function useSlicedLists(server: FastifyInstance): void {
  server.addHook('preSerialization', (_request, reply, payload, done) => {
    if (!hasList(payload)) return done(null, payload);
    const use = (json: string | Buffer) => {
      // Fastify takes a buffer, too. An error may follow instead.
      reply.serializer((value: unknown) => (value === payload ? (json as string) : toJson(value)));
      done(null, payload);
    };
    toJsonInSlices(payload).then(use, done);
  });
}

/** Fastify passes null for a missing body. */
function validator(schema: z.ZodType, part: string) {
  // Determined with the first request: zod compiles a schema when it first parses, and most routes are never
  // used.
  let bodyIsOptional: boolean | undefined;
  return (value: unknown) => {
    if (part === 'body' && value === null) {
      bodyIsOptional ??= schema.safeParse(undefined).success;
      if (!bodyIsOptional) return { error: new InvalidInput(INVALID_JSON) };
    }
    const result = schema.safeParse(
      value === null ? undefined : part === 'body' ? value : withoutNul(value),
      { reportInput: true },
    );
    return result.success
      ? { value: result.data }
      : { error: new InvalidInput(errorText(result.error, part)) };
  };
}

export const INVALID_JSON = 'Invalid JSON in request body';

/** Replaces `%00` in a URL: PostgreSQL rejects NUL in text. Bodies are sanitized in `secureJsonParse`. */
function withoutNul(fields: unknown): unknown {
  const clean = (value: unknown) => (typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value);
  return Object.fromEntries(Object.entries(fields as object).map(([key, value]) => [key, clean(value)]));
}

/**
 * Names what is larger in a message than `bounds` allow; `undefined` if nothing is. For protocols whose library finds the
 * other problems.
 */
export function problemOfSize(bounds: z.ZodType, message: unknown): string | undefined {
  const issues = bounds.safeParse(message).error?.issues ?? [];
  const [first] = issues.filter(({ code }) => code === 'too_big' || code === 'custom');
  return first && sentence(first as z.core.$ZodIssue, [], 'body');
}

/** Issues reported at most. */
const MAX_ISSUES = 5;

/** One clause per issue, with its field. */
function errorText(error: z.core.$ZodError, part: string): string {
  return error.issues
    .slice(0, MAX_ISSUES)
    .map((issue) => sentence(issue, [], part))
    .join('; ');
}

function sentence(issue: z.core.$ZodIssue, parents: PropertyKey[], part: string): string {
  const path = [...parents, ...issue.path];
  if (issue.code === 'invalid_key') return sentence(issue.issues[0] as z.core.$ZodIssue, path, part);
  if (issue.code === 'invalid_union' && issue.message === 'Invalid input') {
    // The branch whose top level matches is the one that the client meant.
    const best = issue.errors.find((branch) => branch.some((inner) => inner.path.length > 0));
    if (best) return sentence(best[0] as z.core.$ZodIssue, path, part);
    // For a string that matches no branch, the allowed values are more helpful than the types.
    const choices =
      typeof issue.input === 'string' && issue.errors.flat().find(({ code }) => code === 'invalid_value');
    if (choices) return `${name(path, part)}: ${reason(choices)}`;
    const forms = issue.errors.map((branch) => reason(branch[0] as z.core.$ZodIssue));
    return `${name(path, part)}: ${[...new Set(forms)].join(' or ')}`;
  }
  if (/received undefined$/.test(issue.message)) return `${name(path, part)} is required`;
  // Messages of path parameters are complete sentences (contract §1 "non-UUID id").
  return part === 'params' ? issue.message : `${name(path, part)}: ${reason(issue)}`;
}

function reason(issue: z.core.$ZodIssue): string {
  // Schemas may define their own message.
  const isStandard = /^Invalid (?:option|input): expected /.test(issue.message);
  if (issue.code === 'invalid_value' && isStandard && typeof issue.input === 'string')
    return unknownValue(issue.input, issue.values);
  const [, most] = /^Too big: expected \w+ to have <=(.+)$/.exec(issue.message) ?? [];
  if (most) return `must have at most ${most}`;
  return issue.message.replace(/^Invalid input: /, '').replace('expected record', 'expected object');
}

/** Longest value echoed in a message, characters. */
const MAX_ECHOED_LENGTH = 50;

function unknownValue(given: string, values: readonly unknown[]): string {
  const choices = values.filter((value) => typeof value === 'string');
  const expected = `expected one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
  if (given.length > MAX_ECHOED_LENGTH) return expected;
  const suggestion = didYouMean(given, choices);
  return `unknown value ${JSON.stringify(given)}${suggestion === undefined ? '' : ` (did you mean "${suggestion}"?)`}; ${expected}`;
}

/** Formats a path: `command.goto`, `ids[0]`. */
function name(path: PropertyKey[], part: string): string {
  if (path.length === 0) return part === 'body' ? 'request body' : part;
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');
}

/**
 * Parses every body as JSON, whatever its content type: clients send `text/plain` or none (contract §1). An empty body
 * is no body; the route's schema decides whether it is required.
 */
export function useJsonBodyParser(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    const text = await server.bodies.text(request, payload);
    if (request.is404 || text === '') return undefined;
    const encoding = request.headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity')
      throw new InvalidInput(
        `Request body has Content-Encoding ${encoding}, which is not supported: send it unencoded`,
      );
    const json = await server.bodies.json(text);
    if ('problem' in json) throw new InvalidInput(`${INVALID_JSON}: ${json.problem}`);
    return json.value;
  });
}
