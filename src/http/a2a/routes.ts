import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Lazy, lazy } from '../../core/lazy.ts';
import { trimEnd } from '../../core/trim-end.ts';
import { A2aAnswer, A2aMessage } from '../../schemas/a2a.ts';
import { AssistantPath } from '../../schemas/path-params.ts';
import type { A2aService } from '../../services/a2a/a2a.ts';
import { type SecurityDocument, securityOf } from '../openapi/security.ts';
import { TAGS } from '../openapi/tags.ts';
import { ownAddress } from '../own-address.ts';
import type { A2aParts, A2aRequest } from './calls.ts';
import type { CardParts } from './card.ts';
import { type CardRules, cardRoutes } from './card-routes.ts';
import { refuseLargeRpc } from './error-details.ts';
import { restRoutes } from './rest-routes.ts';

export interface A2aRouteParts extends Omit<A2aParts, 'a2a' | 'cardParts' | 'signer'>, CardRules {
  readonly a2a: Lazy<A2aService>;
  /** Where clients reach the server; what the request says without it. */
  readonly base_url?: string | undefined;
  /** Largest message, bytes. */
  readonly body_limit: number;
  readonly mount_prefix: string;
  /** Undefined where nobody is asked who they are. */
  readonly security: SecurityDocument | undefined;
}

/** The door for A2A clients of 1.0 and 0.3. What is behind it is loaded for the first of them. */
export function a2aRoutes(server: FastifyInstance, route: A2aRouteParts): void {
  const door = lazy(async () => {
    const [{ openDoor }, a2a] = await Promise.all([import('./door.ts'), route.a2a()]);
    const cardParts = (request: FastifyRequest) => cardPartsOf(route, a2a, request);
    return openDoor({ ...route, a2a, cardParts });
  });
  server.register((scope, _options, done) => {
    // The protocol has its own words for what is wrong with a message.
    scope.setValidatorCompiler(() => () => true);
    scope.removeAllContentTypeParsers();
    const limit = { bytes: route.body_limit, setting: 'http.a2a.body_limit' };
    scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      scope.bodies.text(request, payload, limit),
    );
    for (const url of ['/a2a/:assistant_id', '/a2a/:assistant_id/']) {
      const schema = url.endsWith('/') ? {} : DOCUMENTED;
      const options = { config: { scope: 'run' as const }, schema, errorHandler: refuseLargeRpc };
      scope.post(url, options, async (request, reply) => (await door()).rpc(request as A2aRequest, reply));
    }
    cardRoutes(scope, door, route);
    restRoutes(scope, door);
    done();
  });
}

const DOCUMENTED = {
  operationId: 'send_agent_message',
  summary: 'A2A',
  description:
    'A JSON-RPC message of the Agent2Agent protocol, version 1.0 or 0.3, told apart by the method name. The HTTP+JSON operations of 1.0 are under the same path.',
  tags: [TAGS.a2a],
  params: AssistantPath,
  body: A2aMessage,
  example: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { pageSize: 10 } },
  response: { 200: A2aAnswer, 413: A2aAnswer },
};

function cardPartsOf(
  { base_url, mount_prefix, security }: A2aRouteParts,
  { sends_push }: A2aService,
  request: FastifyRequest,
): CardParts {
  const base = base_url ?? `${ownAddress(request) ?? 'http://localhost'}${mount_prefix}`;
  const told = security ? securityOf(security) : { securitySchemes: {}, security: [] };
  return { base: trimEnd(base, '/'), sends_push, ...told };
}
