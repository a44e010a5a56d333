import type { FastifyInstance } from 'fastify';
import { InvalidInput } from '../../core/errors.ts';
import { safeJson } from '../safe-json.ts';
import { NO_JSON } from './contract.ts';

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

function parse(text: string): unknown {
  const json = safeJson(text);
  if (!json) throw new InvalidInput(NO_JSON);
  return json.value;
}
