import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  PROTOCOL_VERSION_META_KEY,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Actor } from '../../auth/actor.ts';
import { isObject } from '../../core/json.ts';
import { McpAnswer, McpMessage } from '../../schemas/mcp.ts';
import { TAGS } from '../openapi/tags.ts';
import { type McpParts, mcpServer } from './server.ts';
import { jsonWhereItCan } from './single-answer.ts';
import type { Caller } from './tool-call.ts';

const EXAMPLE = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

/** The door for MCP clients of all revisions: stateless, each request with a server of its own. */
export function mcpRoutes(server: FastifyInstance, parts: McpParts & { readonly body_limit: number }): void {
  server.register((scope, _options, done) => {
    // The protocol has its own words for what is wrong with a message.
    scope.setValidatorCompiler(() => () => true);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, parsed) => parsed(null, body));
    const door = openDoor(parts);
    scope.addHook('preClose', () => door.close());
    for (const url of ['/mcp', '/mcp/', '/mcp/:assistant_id']) {
      scope.post(url, { schema: url === '/mcp/' ? DOCUMENTED : {} }, (request, reply) =>
        door.serve(request, reply),
      );
    }
    done();
  });
}

const DOCUMENTED = {
  operationId: 'mcp',
  summary: 'MCP',
  description:
    'A message of the Model Context Protocol, of any revision. Each assistant is a tool. `/mcp/{assistant_id}` has one tool only.',
  tags: [TAGS.mcp],
  body: McpMessage,
  example: EXAMPLE,
  // What is wrong with a message is told in the protocol's words; one that needs no answer has none.
  response: { 200: McpAnswer, 202: z.string(), 400: McpAnswer, 406: McpAnswer, 415: McpAnswer },
};

function openDoor(parts: McpParts & { readonly body_limit: number }) {
  const factory = ({ authInfo, requestInfo }: McpRequestContext) =>
    mcpServer(parts, authInfo?.extra?.['caller'] as Caller, requestInfo as Request);
  const modern = createMcpHandler(factory, {
    legacy: 'reject',
    maxRequestBodySize: parts.body_limit,
    bus: {
      publish: () => {},
      subscribe(listener) {
        const listening = parts.mcp.onToolsChanged(() => listener({ kind: 'tools_list_changed' }));
        return () => listening[Symbol.dispose]();
      },
    },
    onerror: (error) => parts.logger.debug('a message of MCP was refused', { error }),
  });

  return {
    close: () => modern.close(),

    async serve(incoming: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const request = webRequest(incoming, gone.signal);
      const message = messageIn(incoming.body);
      const authInfo = authInfoOf(callerOf(incoming, message));
      const response = (await isLegacyRequest(request))
        ? await serveLegacy(parts, request, authInfo)
        : await modern.fetch(request, { authInfo });
      return send(reply, response);
    },
  } satisfies { close: McpHttpHandler['close']; serve: unknown };
}

async function serveLegacy(
  parts: McpParts,
  request: Request,
  authInfo: ReturnType<typeof authInfoOf>,
): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport();
  const server = await mcpServer(parts, authInfo.extra.caller, request);
  await server.connect(transport);
  return jsonWhereItCan(await transport.handleRequest(request, { authInfo }));
}

/** The library passes it on untouched; who calls was found out before. */
function authInfoOf(caller: Caller) {
  return { token: '', clientId: caller.actor.user?.identity ?? '', scopes: [], extra: { caller } };
}

function callerOf({ actor, params, headers }: FastifyRequest, message: unknown): Caller {
  const thread = headers['x-thread-id'];
  return {
    actor: { ...actor, protocol: protocolOf(message, headers['mcp-protocol-version']) },
    assistant_id: (params as { assistant_id?: string }).assistant_id,
    thread: typeof thread === 'string' && thread !== '' ? thread : undefined,
  };
}

function protocolOf(message: unknown, header: unknown): NonNullable<Actor['protocol']> {
  const params = isObject(message) && isObject(message['params']) ? message['params'] : {};
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const version = meta[PROTOCOL_VERSION_META_KEY] ?? header;
  return {
    name: 'mcp',
    version: typeof version === 'string' ? version : '2025-03-26',
    client_capabilities: meta[CLIENT_CAPABILITIES_META_KEY] ?? {},
  };
}

/** Undefined for what is no JSON: the library says so in the protocol's way. */
function messageIn(body: unknown): unknown {
  try {
    return JSON.parse(String(body));
  } catch {
    return undefined;
  }
}

function webRequest({ raw, host, protocol, body }: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  // Clients that take only one of the two forms, or say nothing, are served too.
  headers.set('accept', 'application/json, text/event-stream');
  headers.delete('content-length');
  const url = new URL(raw.url ?? '/', `${protocol}://${host || 'localhost'}`);
  return new Request(url, { method: 'POST', headers, body: typeof body === 'string' ? body : '', signal });
}

function send(reply: FastifyReply, response: Response): FastifyReply {
  reply.code(response.status);
  response.headers.forEach((value, name) => {
    reply.header(name, value);
  });
  return response.body
    ? reply.send(Readable.fromWeb(response.body as ReadableStream))
    : reply.send(response.status === 202 ? undefined : '');
}
