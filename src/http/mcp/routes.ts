import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Unavailable } from '../../core/errors.ts';
import { lazy } from '../../core/lazy.ts';
import { McpAnswer, McpMessage } from '../../schemas/mcp.ts';
import { TAGS } from '../openapi/tags.ts';
import type { McpDoorParts } from './door.ts';
import { type ProtectedResourceRules, protectedResourceRoutes, useChallenge } from './protected-resource.ts';

const EXAMPLE = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** The address of MCP. What is behind it is loaded for the first client: the protocol's library takes 34 MB. */
export function mcpRoutes(server: FastifyInstance, parts: McpDoorParts & ProtectedResourceRules): void {
  const door = lazy(async () => (await import('./door.ts')).openDoor(parts));
  let isClosing = false;
  protectedResourceRoutes(server, parts);
  server.register((scope, _options, done) => {
    useChallenge(scope, parts);
    // The protocol has its own words for what is wrong with a message.
    scope.setValidatorCompiler(() => () => true);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', scope.bodies.text);
    scope.addHook('preClose', async () => {
      isClosing = true;
      const opened = await door.made?.catch(() => undefined);
      await opened?.close();
    });
    for (const url of ['/mcp', '/mcp/', '/mcp/:assistant_id']) {
      const schema = url === '/mcp/' ? DOCUMENTED : {};
      scope.post(url, { config: { scope: 'run' }, schema }, async (request, reply) => {
        // A door that opens now would stay open.
        if (isClosing) throw new Unavailable('The server is shutting down.');
        return (await door()).serve(request, reply);
      });
    }
    done();
  });
}

const DOCUMENTED = {
  operationId: 'mcp',
  summary: 'MCP',
  description:
    'A message of the Model Context Protocol, in any revision. Each assistant is a tool; `/mcp/{assistant_id}` has only that one.',
  tags: [TAGS.mcp],
  body: McpMessage,
  example: EXAMPLE,
  // What is wrong with a message is told in the protocol's words; one that needs no answer has none.
  response: { 200: McpAnswer, 202: z.string(), 400: McpAnswer, 406: McpAnswer, 415: McpAnswer },
};
