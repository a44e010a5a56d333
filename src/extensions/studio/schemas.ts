import { z } from 'zod';
import { Timestamp } from '../../schemas/fields.ts';
import { nameRequests, nameResponses } from '../../schemas/named.ts';

/** Creates a Studio session, or changes whose view it shows. */
export const StudioSessionCreate = z
  .looseObject({
    key: z.string().min(1).max(2_048).optional().describe('An API key.'),
    token: z
      .string()
      .min(1)
      .max(2_048)
      .optional()
      .describe("A bearer token: the identity provider's, or one that your own handlers accept."),
    view_as: z
      .string()
      .min(1)
      .max(256)
      .nullable()
      .optional()
      .describe(
        'Identity of a user: the session gets the rights of this user. `null` returns to the own view. Only for unrestricted callers; also within a session.',
      ),
  })
  .refine(({ key, token }) => key === undefined || token === undefined, {
    error: 'must have a key or a token, not both',
  })
  .refine((body) => body.key !== undefined || body.token !== undefined || body.view_as !== undefined, {
    error: 'must have a key, a token or view_as',
  });
export type StudioSessionCreate = z.output<typeof StudioSessionCreate>;

/** What Studio may show and do. */
export const StudioSession = z.object({
  signed_in: z.boolean().describe('Also true without authentication, when everything is open.'),
  authentication: z.boolean().describe('Whether the server requires authentication.'),
  accepts_tokens: z.boolean().describe('Whether users can also sign in with tokens, besides API keys.'),
  scope: z.enum(['read', 'run', 'admin', 'deployments:write']).nullable().describe('`null` until signed in.'),
  user: z.string().nullable().describe('Identity of the user; `null` for an API key.'),
  unrestricted: z
    .boolean()
    .describe('Whether the session sees the rows of everyone, and resources of the server itself.'),
  viewing_as: z.string().nullable().describe('The user whose view an administrator is using.'),
  read_only: z.boolean().describe('`studio.read_only`: whether Studio can change nothing.'),
  trace_url: z
    .string()
    .nullable()
    .describe(
      '`studio.trace_url`, in which `{trace_id}` stands for the trace id of a run. `null` until signed in.',
    ),
  currency: z.string().describe('`usage.currency`: of all costs.'),
  body_limit: z.int().describe('`server.body_limit`: bytes of the largest request.'),
  extensions: z
    .array(z.string())
    .describe('Optional parts of the server that are on, such as `mcp` or `deployments`.'),
  expires_at: Timestamp.nullable(),
  caller: z
    .string()
    .nullable()
    .describe(
      'Opaque id of the signed-in caller, regardless of `viewing_as`: the same in all sessions of one user or API key. `null` until signed in, and without authentication.',
    ),
});
export type StudioSession = z.output<typeof StudioSession>;

export const STUDIO_SESSION_EXAMPLE = { key: 'my-key' };

nameRequests({ StudioSessionCreate });
nameResponses({ StudioSession });
