import { createPrivateKey, type KeyObject } from 'node:crypto';

/** A private key and the JOSE algorithm it signs with. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly alg: 'ES256' | 'ES384' | 'EdDSA' | 'RS256';
}

/** Parses a private key, PEM or JWK (JSON). Returns `undefined` if it is invalid or of an unsupported type. */
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
