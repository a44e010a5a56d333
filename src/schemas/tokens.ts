import { z } from 'zod';
import { Name } from './bounds.ts';
import { Timestamp, Uuid } from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';
import { boundedInt } from './numbers.ts';
import { EXAMPLES } from './request-params.ts';

/** A browser token, restricted to a user, an assistant, a thread, or several of them. */
export const TokenCreate = z
  .object({
    user: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Acts as this user: sees and owns only what is created with tokens of the same user.'),
    assistant_id: Name.min(1)
      .optional()
      .describe('Limits the token to this assistant: its id, or the name of a graph.'),
    thread_id: Uuid.optional().describe('Limits the token to this thread, which need not exist yet.'),
    scope: z
      .enum(['read', 'run'])
      .default('run')
      .describe(
        '`read` only reads, `run` also creates runs; at most the scope of the key that creates the token.',
      ),
    ttl_seconds: boundedInt({ min: 1, max: 86_400, unit: 'seconds' })
      .default(900)
      .describe('How long the token is valid. Revoking its key ends it sooner.'),
  })
  .refine(
    ({ user, assistant_id, thread_id }) =>
      user !== undefined || assistant_id !== undefined || thread_id !== undefined,
    {
      error: 'must have a user, an assistant_id or a thread_id: a token for everything would be an API key',
    },
  );
export type TokenCreate = z.output<typeof TokenCreate>;

export const Token = z.object({
  token: z
    .string()
    .describe(
      'Send it as `Authorization: Bearer …` or `X-Api-Key`; where a page cannot set headers, as `?access_token=…`.',
    ),
  expires_at: Timestamp,
});
export type Token = z.output<typeof Token>;

export const TOKEN_EXAMPLE = { user: 'jane', assistant_id: EXAMPLES.graph, scope: 'run', ttl_seconds: 900 };

nameRequests({ TokenCreate });
nameResponses({ Token });
