import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ContentTooLarge, Unavailable } from '../../../core/errors.ts';
import { lazy } from '../../../core/lifecycle.ts';
import type { RoutePlugin } from '../../../http/server-deps.ts';
import { McpAnswer, McpMessage } from '../schemas.ts';
import { TAG } from '../tag.ts';
import type { McpHandlerDeps } from './handler.ts';
import {
  type ProtectedResourceOptions,
  protectedResourceRoutes,
  useChallenge,
} from './protected-resource.ts';

const EXAMPLE = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

type McpRouteDeps = McpHandlerDeps & ProtectedResourceOptions;

/** The routes with what the core gives them. */
export function mcpPlugin(
  parts: Omit<McpRouteDeps, 'ids' | 'logger' | 'replies' | 'mount_prefix' | 'issuers' | 'version'>,
): RoutePlugin {
  return (server, { auth, info, ids, logger, replies, mount_prefix }) => {
    const { issuers } = auth;
    const { version } = info;
    mcpRoutes(server, { ...parts, ids, logger, replies, mount_prefix, issuers, version });
  };
}

/** MCP route. The handler loads with the first request: the SDK takes 34 MB. */
function mcpRoutes(server: FastifyInstance, parts: McpRouteDeps): void {
  const handler = lazy(async () => (await import('./handler.ts')).createMcpRequestHandler(parts));
  let isClosing = false;
  protectedResourceRoutes(server, parts);
  server.register((scope, _options, done) => {
    useChallenge(scope, parts);
    // Skip Fastify's validation: the protocol defines its own errors for invalid messages.
    scope.setValidatorCompiler(() => () => true);
    scope.removeAllContentTypeParsers();
    const limit = { bytes: parts.body_limit, setting: 'http.mcp.body_limit' };
    scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) =>
      scope.bodies.text(request, payload, limit),
    );
    scope.addHook('preClose', async () => {
      isClosing = true;
      const made = await handler.made?.catch(() => undefined);
      await made?.close();
    });
    for (const url of ['/mcp', '/mcp/', '/mcp/:assistant_id']) {
      const schema = url === '/mcp/' ? RPC_SCHEMA : {};
      const options = { config: { scope: 'run' as const }, schema, errorHandler: contentTooLarge };
      scope.post(url, options, async (request, reply) => {
        // A handler created after `close` would leak.
        if (isClosing) throw new Unavailable('The server is shutting down.');
        return (await handler()).serve(request, reply);
      });
    }
    done();
  });
}

/** Renders `ContentTooLarge` as a JSON-RPC error; the id is null because the body was not parsed. */
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
  ...TAG,
  body: McpMessage,
  example: EXAMPLE,
  // Errors are JSON-RPC responses as well; a notification gets 202 without a body.
  response: {
    200: McpAnswer,
    202: z.string(),
    400: McpAnswer,
    406: McpAnswer,
    413: McpAnswer,
    415: McpAnswer,
  },
};
