import type { FastifyInstance, FastifyRequest } from 'fastify';
import { trimEnd } from '../../../core/text.ts';
import { publicUrl } from '../../../http/public-url.ts';
import { ProtectedResource } from '../schemas.ts';
import { TAG } from '../tag.ts';

export interface ProtectedResourceOptions {
  /** Authorization servers; without one, no metadata is published. */
  readonly issuers: readonly string[];
  /** Public base URL; defaults to the one derived from the request. */
  readonly base_url?: string | undefined;
  readonly mount_prefix: string;
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const METADATA_SCHEMA = {
  operationId: 'get_protected_resource',
  summary: 'Get OAuth metadata',
  description:
    'The authorization servers that issue tokens for `/mcp`, for clients that obtain one by themselves (RFC 9728).',
  ...TAG,
  response: { 200: ProtectedResource },
};

/** Publishes the authorization servers (RFC 9728) for the server, for MCP and for each assistant. */
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

/** Points a 401 at the resource metadata, so that the client can find the authorization server. */
export function useChallenge(server: FastifyInstance, rules: ProtectedResourceOptions): void {
  if (rules.issuers.length === 0) return;
  server.addHook('onSend', async (request, reply) => {
    if (reply.statusCode !== 401) return;
    const existing = String(reply.getHeader('www-authenticate') ?? '');
    // A challenge set by custom auth handlers takes precedence.
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
