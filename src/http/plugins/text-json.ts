import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InvalidInput } from '../../core/errors.ts';
import { NO_JSON } from './contract.ts';

/**
 * Every body is JSON, whatever its content type says: clients send it as `text/plain` or without one (CONTRACT §1).
 * An empty body is no body; whether one is needed is the route's to say.
 */
export function useTextJson(server: FastifyInstance): void {
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
    if ('problem' in json) throw new InvalidInput(`${NO_JSON}: ${json.problem}`);
    return json.value;
  });
}
