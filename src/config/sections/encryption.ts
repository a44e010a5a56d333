import { KEY_RULE, keyBytes } from '../../db/encryption/key-ring.ts';
import { group, list, text } from '../values.ts';

const isKey = (key: string) => keyBytes(key) !== undefined;

export const Encryption = group({
  key: text()
    .refine(isKey, KEY_RULE)
    .optional()
    .describe(
      'Key that encrypts stored data: 16, 24 or 32 bytes, as characters, hexadecimal or base64. Unset: no encryption.',
    ),
  fallback_keys: list()
    .refine((keys) => keys.every(isKey), `each ${KEY_RULE}`)
    .default([])
    .describe('Further keys that decrypt stored data: earlier ones, or the next.'),
  path: text()
    .regex(/^.+:[^:/\\]+$/, 'must be path:export, such as ./encryption.ts:encryption')
    .optional()
    .describe('Keys from a vault, or your own encryption, as `path:export`.'),
}).refine(
  ({ key, path, fallback_keys }) => fallback_keys.length === 0 || key !== undefined || path !== undefined,
  {
    error: 'is required with fallback keys',
    path: ['key'],
  },
);
