import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InvalidInput } from '../../core/errors.ts';
import { readJson } from '../safe-json.ts';
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
    async ({ is404, headers }: FastifyRequest, text: string) => {
      if (is404 || text === '') return undefined;
      const encoding = headers['content-encoding'] ?? 'identity';
      if (encoding !== 'identity')
        throw new InvalidInput(`Request body is encoded (${encoding}): send it as it is`);
      return parse(text);
    },
  );
}

function parse(text: string): unknown {
  const read = readJson(text);
  if ('problem' in read) throw new InvalidInput(`${NO_JSON}: ${read.problem}`);
  return read.value;
}
