import { createPrivateKey, type KeyObject } from 'node:crypto';

/** A private key and the JOSE algorithm that it signs with. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly alg: 'ES256' | 'ES384' | 'EdDSA' | 'RS256';
}

/** Reads a private key, in PEM or as a JWK in JSON. Undefined for what is none, or none that cards are signed with. */
export function signingKey(text: string): SigningKey | undefined {
  try {
    const isJwk = text.trimStart().startsWith('{');
    const key = createPrivateKey(isJwk ? { key: JSON.parse(text), format: 'jwk' } : text);
    const alg = algorithmOf(key);
    return alg && { key, alg };
  } catch {
    return undefined;
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SigningKey['alg'] | undefined {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'rsa') return 'RS256';
  if (asymmetricKeyType !== 'ec') return undefined;
  const curves = { prime256v1: 'ES256', secp384r1: 'ES384' } as const;
  return curves[asymmetricKeyDetails?.namedCurve as keyof typeof curves];
}
