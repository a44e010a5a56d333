import type { FastifyContextConfig, FastifySchema } from 'fastify';
import { z } from 'zod';
import type { JsonObject } from '../../core/json.ts';
import { STATUS_CODES } from '../../core/node-http.ts';
import { EXAMPLES } from '../../schemas/request-params.ts';
import { INVALID_JSON } from '../plugins/validation.ts';
import { jsonSchema } from './json-schema.ts';

export interface Route {
  readonly schema: FastifySchema;
  readonly config: FastifyContextConfig | undefined;
}

/** Builds an OpenAPI operation from the route's schema. `graph_id` replaces the graph in examples. */
export function operation({ schema, config = {} }: Route, graph_id: string): JsonObject {
  const open = config.open === true;
  const { operationId, summary, description, tags, body } = schema;
  const parameters = [
    ...parametersOf('path', schema.params, graph_id),
    ...parametersOf('query', schema.querystring, graph_id),
    ...parametersOf('header', schema.headers, graph_id),
  ];
  return {
    operationId,
    summary,
    description,
    tags,
    ...(open ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: requestBody(body as z.ZodType, withGraph(schema.example, graph_id)) } : {}),
    responses: { ...successes(schema), ...failures(schema, config) },
  };
}

function parametersOf(place: 'path' | 'query' | 'header', schema: unknown, graph_id: string): JsonObject[] {
  if (!schema) return [];
  const shape = (schema as z.ZodObject).shape as Record<string, z.ZodType>;
  return Object.entries(shape).map(([name, field]) => {
    const { description, examples, ...type } = jsonSchema(field, 'input');
    return {
      name: place === 'header' ? name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()) : name,
      in: place,
      required: !field.safeParse(undefined).success,
      description,
      schema: type,
      ...(Array.isArray(examples) ? { example: withGraph(examples[0], graph_id) } : {}),
    };
  });
}

function requestBody(body: z.ZodType, example: unknown): JsonObject {
  const schema = body instanceof z.ZodPrefault ? (body.unwrap() as z.ZodType) : body;
  const media = { schema: jsonSchema(schema, 'input'), ...(example === undefined ? {} : { example }) };
  return { required: !body.safeParse(undefined).success, content: { 'application/json': media } };
}

type ResponseSchema = z.ZodType | { content: Record<string, { schema: z.ZodType; example?: unknown }> };

function successes({ response, response_headers }: FastifySchema): JsonObject {
  const headers = Object.entries(response_headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  const described = Object.entries((response ?? {}) as Record<string, ResponseSchema>).map(
    ([status, answer]) => [
      status,
      {
        description: STATUS_CODES[status],
        ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
        ...(status === '204' || status === '202' ? {} : { content: contentOf(answer) }),
      },
    ],
  );
  return Object.fromEntries(described);
}

function contentOf(answer: ResponseSchema): JsonObject {
  const content = 'content' in answer ? answer.content : { 'application/json': { schema: answer } };
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema, ...rest }]) => [
      type,
      { schema: jsonSchema(schema, 'output'), ...rest },
    ]),
  );
}

/** 409: the `Idempotency-Key` was used before. */
const OTHER_REQUEST = 'This Idempotency-Key was sent with another request. Each request needs its own.';
/** 429: only if `server.rate_limit` is set. */
const TOO_MANY = 'More than 60 requests per minute. Retry after the seconds in Retry-After.';

/** Error responses of the route, and those common to its kind. */
function failures(
  { failures, body, params, querystring }: FastifySchema,
  { open, idempotent }: FastifyContextConfig,
): JsonObject {
  const all: Record<number, string> = {
    ...(open === true ? {} : { 401: 'Missing X-Api-Key header', 429: TOO_MANY }),
    ...(body || params || querystring ? { 422: invalid(body, params) } : {}),
    ...(idempotent ? { 409: OTHER_REQUEST } : {}),
    ...failures,
  };
  return Object.fromEntries(
    Object.entries(all).map(([status, detail]) => [
      status,
      {
        description: STATUS_CODES[status],
        content: {
          'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' }, example: { detail } },
        },
      },
    ]),
  );
}

/** The most likely 422 message. */
function invalid(body: unknown, params: unknown): string {
  if (body) return INVALID_JSON;
  const noun = params
    ? (Object.keys((params as z.ZodObject).shape)[0] as string).replace('_id', '')
    : undefined;
  return noun ? `Invalid ${noun} ID: must be a UUID` : 'limit: must be a whole number';
}

/** Replaces the example graph by one of this server's, so that examples can be executed. */
function withGraph(example: unknown, graph_id: string): unknown {
  if (example === undefined) return undefined;
  return JSON.parse(JSON.stringify(example), (_key, value) => (value === EXAMPLES.graph ? graph_id : value));
}
