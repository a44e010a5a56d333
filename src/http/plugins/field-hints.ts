import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { didYouMean } from '../../core/did-you-mean.ts';
import { isObject } from '../../core/json.ts';
import type { Logger } from '../../core/logger.ts';
import { pathOf } from './route-table.ts';

/** Limits per body and per name: a longer name is no misspelt field. */
const MAX_HINTS = 20;
const MAX_FIELD_LENGTH = 40;

/**
 * Logs probable misspellings of body fields for client developers: like the official server, this one accepts and
 * ignores unknown fields.
 */
export function useFieldHints(server: FastifyInstance, logger: Logger): void {
  server.addHook('preValidation', async ({ method, url, body, id, routeOptions: { schema } }) => {
    const fields = fieldsOf(schema?.body);
    if (fields.length === 0 || !isObject(body)) return;
    const unknown = Object.keys(body).filter(
      (name) => name.length <= MAX_FIELD_LENGTH && !fields.includes(name),
    );
    for (const field of unknown.slice(0, MAX_HINTS)) {
      const suggestion = didYouMean(field, fields);
      if (suggestion === undefined || suggestion in body) continue;
      logger.warn(`${method} ${pathOf(url)}: unknown field "${field}"; did you mean "${suggestion}"?`, {
        request_id: id,
      });
    }
  });
}

function fieldsOf(schema: unknown): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return fieldsOf(schema.unwrap());
  return schema instanceof z.ZodPipe ? fieldsOf(schema.out) : [];
}
