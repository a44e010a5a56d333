import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { STUDIO_SESSION_EXAMPLE, StudioSession, StudioSessionCreate } from '../../schemas/studio.ts';
import type { SessionResult, StudioService } from '../../services/studio.ts';
import { TAGS } from '../openapi/tags.ts';
import { callerOf } from '../plugins/auth.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

interface StudioRouteDeps {
  readonly studio: StudioService;
  readonly mount_prefix: string;
}

/** Sessions of Studio, which stand for an API key or a token in the browser. They answer who is not signed in, too. */
export function studioRoutes(server: FastifyInstance, { studio, mount_prefix }: StudioRouteDeps) {
  const app = server.withTypeProvider<ZodTypeProvider>();
  const path = '/studio/session';
  const shared = { tags: [TAGS.system], response: { 200: StudioSession } };

  function answer(request: FastifyRequest, reply: FastifyReply, { session, cookie }: SessionResult) {
    const { name, value, max_age } = cookie;
    const attributes = [`Path=${mount_prefix || '/'}`, `Max-Age=${max_age}`, 'HttpOnly', 'SameSite=Strict'];
    if (request.protocol === 'https') attributes.push('Secure');
    reply.header('set-cookie', [`${name}=${value}`, ...attributes].join('; '));
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
          'Exchanges an API key or a token for a cookie that scripts cannot read, valid for 12 hours and only while the credential is. An administrator also takes the view of a user.',
        body: StudioSessionCreate,
        example: STUDIO_SESSION_EXAMPLE,
        failures: {
          401: 'The key or the token is not valid.',
          403: 'A page of another origin asks, or `view_as` is not allowed.',
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
        description: 'Makes this browser forget its session.',
        failures: { 403: 'A page of another origin asks.' },
      },
    },
    async (request, reply) => answer(request, reply, await studio.end(callerOf(request))),
  );
}
