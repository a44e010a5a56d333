import type { FastifyInstance, FastifyRequest } from 'fastify';
import { trimEnd } from '../../core/text.ts';
import { ProtectedResource } from '../../schemas/mcp.ts';
import { TAGS } from '../openapi/tags.ts';
import { publicUrl } from '../public-url.ts';

export interface ProtectedResourceOptions {
  /** Who issues tokens for this server; nothing is told to anybody without one. */
  readonly issuers: readonly string[];
  /** Where clients reach the server; what the request says without it. */
  readonly base_url?: string | undefined;
  readonly mount_prefix: string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const METADATA_SCHEMA = {
  operationId: 'get_protected_resource',
  summary: 'Where to get a token',
  description: 'Who issues tokens for `/mcp`, for clients that get one by themselves (RFC 9728).',
  tags: [TAGS.mcp],
  response: { 200: ProtectedResource },
};

/** Tells who issues tokens: below the address of the server, and of MCP and each assistant there. */
export function protectedResourceRoutes(server: FastifyInstance, rules: ProtectedResourceOptions): void {
  if (rules.issuers.length === 0) return;
  const config = { open: true };
  for (const path of ['', '/mcp', '/mcp/:assistant_id']) {
    const schema = path === '' ? METADATA_SCHEMA : {};
    server.get(`${WELL_KNOWN}${path}`, { config, schema }, (request): ProtectedResource => {
      const { assistant_id } = request.params as { assistant_id?: string };
      const below = assistant_id === undefined ? '' : `/${encodeURIComponent(assistant_id)}`;
      return {
        resource: `${baseOf(request, rules)}/mcp${below}`,
        authorization_servers: [...rules.issuers],
        bearer_methods_supported: ['header'],
        resource_name: 'Agent Server',
      };
    });
  }
}

/** Who is refused for want of a token is told where to get one. */
export function useChallenge(server: FastifyInstance, rules: ProtectedResourceOptions): void {
  if (rules.issuers.length === 0) return;
  server.addHook('onSend', async (request, reply) => {
    if (reply.statusCode !== 401) return;
    const existing = String(reply.getHeader('www-authenticate') ?? '');
    // What the user's own code says itself stands.
    if (!existing.includes('resource_metadata'))
      reply.header('www-authenticate', challenge(request, rules, existing));
  });
}

function challenge(request: FastifyRequest, rules: ProtectedResourceOptions, existing: string): string {
  const { assistant_id } = request.params as { assistant_id?: string };
  const below = assistant_id === undefined ? '' : `/${encodeURIComponent(assistant_id)}`;
  const wrong = request.headers.authorization === undefined ? [] : ['error="invalid_token"'];
  const where = `resource_metadata="${baseOf(request, rules)}${WELL_KNOWN}/mcp${below}"`;
  const own = /^Bearer (.+)$/i.exec(existing)?.[1];
  return `Bearer ${[...(own === undefined ? [] : [own]), ...wrong, where].join(', ')}`;
}

function baseOf(request: FastifyRequest, { base_url, mount_prefix }: ProtectedResourceOptions) {
  return trimEnd(base_url ?? `${publicUrl(request) ?? 'http://localhost'}${mount_prefix}`, '/');
}
