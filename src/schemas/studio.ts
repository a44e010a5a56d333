import { z } from 'zod';
import { Timestamp } from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';

/** Begins a session of Studio, or changes whom it shows. */
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
        'Identity of a user: the session sees and does what this user may. `null` ends it. For callers without limits, also within a session.',
      ),
  })
  .refine(({ key, token }) => key === undefined || token === undefined, {
    error: 'has a key or a token, not both',
  })
  .refine((body) => body.key !== undefined || body.token !== undefined || body.view_as !== undefined, {
    error: 'needs a key, a token or view_as',
  });
export type StudioSessionCreate = z.output<typeof StudioSessionCreate>;

/** What Studio may show and do. */
export const StudioSession = z.object({
  signed_in: z.boolean().describe('True without authentication too: everything is open then.'),
  authentication: z.boolean().describe('Whether the server authenticates its callers.'),
  accepts_tokens: z.boolean().describe('Whether users sign in with tokens, beside API keys.'),
  scope: z.enum(['read', 'run', 'admin', 'deployments:write']).nullable().describe('`null` until signed in.'),
  user: z.string().nullable().describe('Identity of the user; `null` for an API key.'),
  unrestricted: z.boolean().describe('Sees the rows of everybody, and what belongs to the server itself.'),
  viewing_as: z.string().nullable().describe('The user whose view an administrator has taken.'),
  read_only: z.boolean().describe('`studio.read_only`: nothing can be changed here.'),
  trace_url: z
    .string()
    .nullable()
    .describe('`studio.trace_url`, where `{trace_id}` stands for that of a run. `null` until signed in.'),
  deployments: z.boolean().describe('`deployments.enabled`: this server builds and serves deployments.'),
  expires_at: Timestamp.nullable(),
  caller: z
    .string()
    .nullable()
    .describe(
      'Stands for whoever signed in, not for whose view is taken: the same in each session of one user or API key. `null` until signed in, and without authentication.',
    ),
});
export type StudioSession = z.output<typeof StudioSession>;

export const STUDIO_SESSION_EXAMPLE = { key: 'my-key' };

nameRequests({ StudioSessionCreate });
nameResponses({ StudioSession });
