import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TAGS } from '../../http/openapi/tags.ts';
import { callerOf } from '../../http/plugins/auth.ts';
import type { ZodTypeProvider } from '../../http/plugins/validation.ts';
import { STUDIO_SESSION_EXAMPLE, StudioSession, StudioSessionCreate } from './schemas.ts';
import type { SessionResult, StudioService } from './service.ts';
import { HOST_PREFIX } from './sessions.ts';

/** Whether the browser uses HTTPS; it reports that itself where a proxy ends TLS that is not among `server.trust_proxy`. */
function isHttps({ protocol, headers }: FastifyRequest): boolean {
  return protocol === 'https' || headers.origin?.startsWith('https://') === true;
}

/**
 * Sessions of Studio, which stand in for an API key or a token in the browser. Open to callers who are not
 * signed in.
 */
export function studioRoutes(server: FastifyInstance, studio: StudioService, mount_prefix: string) {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const path = '/studio/session';
  const shared = { tags: [TAGS.system], response: { 200: StudioSession } };

  function answer(request: FastifyRequest, reply: FastifyReply, { session, cookie }: SessionResult) {
    const { name, value, max_age } = cookie;
    const attributes = [`Path=${mount_prefix || '/'}`, `Max-Age=${max_age}`, 'HttpOnly', 'SameSite=Strict'];
    const is_secure = isHttps(request);
    if (is_secure) attributes.push('Secure');
    const full = is_secure && mount_prefix === '' ? `${HOST_PREFIX}${name}` : name;
    reply.header('set-cookie', [`${full}=${value}`, ...attributes].join('; '));
    return session;
  }

  app.get(
    path,
    {
      config: { open: true },
      schema: {
        ...shared,
        operationId: 'get_studio_session',
        summary: 'Get Studio session',
        description: 'Whether this browser is signed in to Studio, and what it may do.',
      },
    },
    (request) => studio.current(callerOf(request)),
  );

  app.post(
    path,
    {
      config: { open: true },
      schema: {
        ...shared,
        operationId: 'create_studio_session',
        summary: 'Sign in to Studio',
        description:
          'Exchanges an API key or a token for a cookie that scripts cannot read, valid for 12 hours at most, and only while the credential is valid. With `view_as`, an administrator sees what a user sees.',
        body: StudioSessionCreate,
        example: STUDIO_SESSION_EXAMPLE,
        failures: {
          401: 'The key or the token is not valid.',
          403: 'The request comes from another origin, or `view_as` is not allowed.',
        },
      },
    },
    async (request, reply) => answer(request, reply, await studio.begin(callerOf(request), request.body)),
  );

  app.delete(
    path,
    {
      config: { open: true },
      schema: {
        ...shared,
        operationId: 'delete_studio_session',
        summary: 'Sign out of Studio',
        description: 'Ends the session in this browser.',
        failures: { 403: 'The request comes from another origin.' },
      },
    },
    async (request, reply) => answer(request, reply, await studio.end(callerOf(request))),
  );
}
