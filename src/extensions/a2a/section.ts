import type { z } from 'zod';
import { group, messageLimit, oneOf, text } from '../../config/value-types.ts';
import { signingKey } from '../../core/signing-key.ts';

export const A2a = group({
  default_assistant: text()
    .optional()
    .describe('The assistant whose card `/.well-known/agent-card.json` returns without a parameter.'),
  card_default: oneOf(['hybrid', '1.0', '0.3'])
    .default('hybrid')
    .describe(
      'Format of the card for clients that request no version; `hybrid` is 0.3 plus the fields of 1.0.',
    ),
  card_access: oneOf(['protected', 'public'])
    .default('protected')
    .describe(
      'Who can read agent cards: callers with access, or everyone. The extended card is never public.',
    ),
  signing_key: text()
    .refine(
      (key) => signingKey(key) !== undefined,
      'must be a private key, EC, Ed25519 or RSA, in PEM or as a JWK',
    )
    .optional()
    .describe('Private key that signs cards for clients of 1.0; the public key is published for them.'),
  base_url: text()
    .optional()
    .describe('Public URL of the server for other agents. Unset: that of the request.'),
  body_limit: messageLimit(),
}).prefault({});

export type A2aSettings = z.output<typeof A2a>;
