import { z } from 'zod';
import { Timestamp, Uuid } from './fields.ts';
import { nameRequests, nameResponses } from './named.ts';
import { boundedNumber } from './numbers.ts';

/** Longest validity of a key, days. */
export const MAX_KEY_DAYS = 36_500;

const Scope = z.enum(['read', 'run', 'admin', 'deployments:write']);

/** An API key created at run time, without its secret. */
export const Key = z.object({
  key_id: Uuid,
  name: z.string(),
  scope: Scope,
  created_at: Timestamp,
  /** `null`: never. */
  expires_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
  /** Accurate to ten minutes; `null` if the key has never been used. */
  last_used_at: Timestamp.nullable(),
});
export type Key = z.infer<typeof Key>;

/** A new key with its secret, which is not shown again. */
export const KeyCreated = Key.extend({ key: z.string() });
export type KeyCreated = z.infer<typeof KeyCreated>;

export const KeyCreate = z.object({
  name: z.string().min(1).max(256).describe('What the key is for, to distinguish the keys.'),
  scope: Scope.default('run').describe(
    'What the key may do: `read`, `run` or `admin`, where each includes the previous ones. `deployments:write` is for deployments only; `admin` includes it.',
  ),
  expires_in_days: boundedNumber({ min: 0.001, max: MAX_KEY_DAYS, unit: 'days' })
    .nullish()
    .describe('Days until the key expires; never by default.'),
});
export type KeyCreate = z.output<typeof KeyCreate>;

nameRequests({ KeyCreate });
nameResponses({ Key, KeyCreated });
