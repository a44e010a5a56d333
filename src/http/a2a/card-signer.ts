import { createPublicKey } from 'node:crypto';
import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose';
import type { JsonObject } from '../../core/json.ts';
import { signingKey } from '../../core/signing-key.ts';
import { KEYS_PATH } from './card-routes.ts';

/** Signs cards as specification §8.4 says, so that clients can tell that nobody on the way has changed them. */
export interface CardSigner {
  /** Says by which key. */
  readonly kid: string;
  /** What clients verify with: a JSON Web Key Set. */
  readonly keys: { readonly keys: readonly JWK[] };
  /** The card in the form of 1.0 with its signature. `base`: where clients reach the server. */
  signed(card: JsonObject, base: string): Promise<JsonObject>;
}

/** `text`: the private key of the configuration, which has checked it. The name of the key is its thumbprint (RFC 7638). */
export async function cardSigner(text: string): Promise<CardSigner> {
  const found = signingKey(text);
  if (!found) throw new Error('http.a2a.signing_key is not a valid key.');
  const { key, alg } = found;
  const jwk = await exportJWK(createPublicKey(key));
  const kid = await calculateJwkThumbprint(jwk);
  return {
    kid,
    keys: { keys: [{ ...jwk, kid, alg, use: 'sig' }] },
    async signed(card, base) {
      const sign = generateAgentCardSignature(key, { alg, kid, typ: 'JOSE', jku: base + KEYS_PATH });
      const { signatures } = AgentCard.toJSON(await sign(AgentCard.fromJSON(card))) as JsonObject;
      return { ...card, signatures };
    },
  };
}
