import type { FastifyInstance } from 'fastify';
import { TOKEN_EXAMPLE, Token, TokenCreate } from '../../schemas/tokens.ts';
import type { TokenService } from '../../services/tokens.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypeProvider } from '../plugins/validation.ts';

export function tokenRoutes(server: FastifyInstance, { tokens }: { tokens: TokenService }) {
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    '/auth/tokens',
    {
      config: { scope: 'read' },
      schema: {
        operationId: 'create_token',
        summary: 'Create browser token',
        description:
          'Creates a short-lived credential for a browser, limited to a user, an assistant or a thread, and to the scope of the key that creates it.',
        tags: [TAGS.system],
        body: TokenCreate,
        example: TOKEN_EXAMPLE,
        response: { 200: Token },
        failures: { 403: 'Creating a token requires an API key.' },
      },
    },
    ({ actor, body }) => tokens.create(actor, body),
  );
}
