import { KEY_RULE, keyBytes } from '../../storage/encryption/key-ring.ts';
import { group, list, text } from '../values.ts';

const isKey = (key: string) => keyBytes(key) !== undefined;

export const Encryption = group({
  key: text()
    .refine(isKey, KEY_RULE)
    .optional()
    .describe(
      'Key that what is stored is encrypted with: 16, 24 or 32 bytes, as characters or in hexadecimal or base64. Unset: nothing is encrypted.',
    ),
  fallback_keys: list()
    .refine((keys) => keys.every(isKey), `each ${KEY_RULE}`)
    .default([])
    .describe('Keys that what is stored may be encrypted with too: earlier ones, or the next.'),
  path: text()
    .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./encryption.ts:encryption')
    .optional()
    .describe('Where keys come from, or encryption of your own, as `path:export`.'),
}).refine(
  ({ key, path, fallback_keys }) => fallback_keys.length === 0 || key !== undefined || path !== undefined,
  {
    error: 'is required where there are fallback keys',
    path: ['key'],
  },
);
