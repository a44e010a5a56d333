import type { FastifyInstance } from 'fastify';
import { InvalidInput } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { NO_JSON } from './contract.ts';

/** Levels of nesting. Deeper JSON can be parsed, but neither stringified again nor stored by every engine. */
const MAX_DEPTH = 500;

/**
 * Every body is JSON, whatever its content type says: clients send it as `text/plain` or without one (CONTRACT §1).
 * An empty body is no body; whether one is needed is the route's to say.
 */
export function useTextJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    '*',
    { parseAs: 'string' },
    async (request: { is404: boolean }, text: string) =>
      request.is404 || text === '' ? undefined : parse(text),
  );
}

/** JSON that is safe to keep. Throws `InvalidInput` for what is not JSON, too deep, or aims at prototypes. */
function parse(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidInput(NO_JSON);
  }
  inspect(value, 0);
  // Only an escape can bring what PostgreSQL refuses as text: NUL, and halves of surrogate pairs.
  return /\\u(0000|d[89a-f])/i.test(text) ? storable(value) : value;
}

function inspect(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) throw new InvalidInput(`Request body is nested deeper than ${MAX_DEPTH} levels`);
  if (Array.isArray(value)) {
    for (const item of value) inspect(item, depth + 1);
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    const isPrototype =
      key === '__proto__' || (key === 'constructor' && isObject(item) && Object.hasOwn(item, 'prototype'));
    if (isPrototype) throw new InvalidInput(`Request body has a key that is not allowed: ${key}`);
    inspect(item, depth + 1);
  }
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '\uFFFD').toWellFormed();
  if (Array.isArray(value)) return value.map(storable);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storable(key), storable(item)]));
}
