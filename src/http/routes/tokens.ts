import type { FastifyInstance } from 'fastify';
import { TOKEN_EXAMPLE, Token, TokenCreate } from '../../schemas/tokens.ts';
import type { TokenService } from '../../services/tokens.ts';
import { TAGS } from '../openapi/tags.ts';
import type { ZodTypes } from '../plugins/contract.ts';

export function tokenRoutes(server: FastifyInstance, { tokens }: { tokens: TokenService }) {
  const app = server.withTypeProvider<ZodTypes>();

  app.post(
    '/auth/tokens',
    {
      schema: {
        operationId: 'create_token',
        summary: 'Make a token for a web page',
        description:
          'A short-lived credential that may be given to a browser: limited to a user, an assistant or a thread, and to what the key that makes it may do.',
        tags: [TAGS.system],
        body: TokenCreate,
        example: TOKEN_EXAMPLE,
        response: { 200: Token },
        failures: { 403: 'Tokens are made with an API key.' },
      },
    },
    ({ actor, body }) => tokens.create(actor, body),
  );
}
