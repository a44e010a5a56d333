import { z } from 'zod';

/** Schema → its name in the OpenAPI document, which defines each once and refers to it elsewhere. */
export const NAMES = z.registry<{ id: string }>();
export const REQUESTS: Record<string, z.ZodType> = {};
export const RESPONSES: Record<string, z.ZodType> = {};

/** Names schemas of requests, as the official document does if it has them. Fields with a default are optional. */
export function nameRequests(schemas: Readonly<Record<string, z.ZodType>>): void {
  name(REQUESTS, schemas);
}

/** Names schemas of responses. */
export function nameResponses(schemas: Readonly<Record<string, z.ZodType>>): void {
  name(RESPONSES, schemas);
}

function name(named: Record<string, z.ZodType>, schemas: Readonly<Record<string, z.ZodType>>): void {
  for (const [id, schema] of Object.entries(schemas)) NAMES.add(schema, { id });
  Object.assign(named, schemas);
}
