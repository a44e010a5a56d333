import { z } from 'zod';
import { Timestamp } from '../../../schemas/fields.ts';

export const DeployKey = z.object({
  public_key: z
    .string()
    .nullable()
    .describe(
      'Public key to add to the repository; `null` if there is none. The private key is never returned.',
    ),
  created_at: Timestamp.nullable(),
  host_keys: z
    .array(z.string())
    .describe('Host keys, as in `known_hosts`: pinned at the first connection, and required afterwards.'),
});
export type DeployKey = z.infer<typeof DeployKey>;

/** One line that a header can hold. */
const Line = z.string().regex(/^[\x21-\x7e]+$/, 'must consist of visible ASCII characters');

export const RepositoryTokenUpdate = z.looseObject({
  token: Line.max(4096).describe(
    'Token with which the server reads the repository over https. Sent only to the host of `repo_url`; never returned.',
  ),
  username: Line.max(255)
    .nullish()
    .describe('User name sent with the token; by default what GitHub, GitLab or Bitbucket expect.'),
});
export type RepositoryTokenUpdate = z.infer<typeof RepositoryTokenUpdate>;

export const RepositoryToken = z.object({
  is_set: z.boolean(),
  host: z.string().nullable().describe('The only host that the token is sent to.'),
  username: z.string().nullable(),
  updated_at: Timestamp.nullable(),
});
export type RepositoryToken = z.infer<typeof RepositoryToken>;
