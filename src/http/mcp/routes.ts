import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ContentTooLarge, Unavailable } from '../../core/errors.ts';
import { lazy } from '../../core/lifecycle.ts';
import { McpAnswer, McpMessage } from '../../schemas/mcp.ts';
import { TAGS } from '../openapi/tags.ts';
import type { McpHandlerDeps } from './handler.ts';
import {
  type ProtectedResourceOptions,
  protectedResourceRoutes,
  useChallenge,
} from './protected-resource.ts';

const EXAMPLE = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** The address of MCP. What is behind it is loaded for the first client: the protocol's library takes 34 MB. */
export function mcpRoutes(server: FastifyInstance, parts: McpHandlerDeps & ProtectedResourceOptions): void {
  const handler = lazy(async () => (await import('./handler.ts')).createMcpRequestHandler(parts));
  let isClosing = false;
  protectedResourceRoutes(server, parts);
  server.register((scope, _options, done) => {
    useChallenge(scope, parts);
    // The protocol has its own words for what is wrong with a message.
    scope.setValidatorCompiler(() => () => true);
    scope.removeAllContentTypeParsers();
    const limit = { bytes: parts.body_limit, setting: 'http.mcp.body_limit' };
    scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      scope.bodies.text(request, payload, limit),
    );
    scope.addHook('preClose', async () => {
      isClosing = true;
      const opened = await handler.made?.catch(() => undefined);
      await opened?.close();
    });
    for (const url of ['/mcp', '/mcp/', '/mcp/:assistant_id']) {
      const schema = url === '/mcp/' ? RPC_SCHEMA : {};
      const options = { config: { scope: 'run' as const }, schema, errorHandler: contentTooLarge };
      scope.post(url, options, async (request, reply) => {
        // A door that opens now would stay open.
        if (isClosing) throw new Unavailable('The server is shutting down.');
        return (await handler()).serve(request, reply);
      });
    }
    done();
  });
}

/** A message that is too large, in the protocol's words; its id was not read. */
function contentTooLarge(error: Error, _request: FastifyRequest, reply: FastifyReply) {
  if (!(error instanceof ContentTooLarge)) throw error;
  const { status, message } = error;
  return reply.code(status).send({ jsonrpc: '2.0', id: null, error: { code: -32600, message } });
}

const RPC_SCHEMA = {
  operationId: 'mcp',
  summary: 'MCP',
  description:
    'A message of the Model Context Protocol, in any revision. Each assistant is a tool; `/mcp/{assistant_id}` has only that one.',
  tags: [TAGS.mcp],
  body: McpMessage,
  example: EXAMPLE,
  // What is wrong with a message is told in the protocol's words; one that needs no answer has none.
  response: {
    200: McpAnswer,
    202: z.string(),
    400: McpAnswer,
    406: McpAnswer,
    413: McpAnswer,
    415: McpAnswer,
  },
};
