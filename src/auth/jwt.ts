import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Clock } from '../core/clock.ts';
import { Unauthorized, Unavailable } from '../core/errors.ts';
import { ownerRule } from './access-rules.ts';
import { type Identity, principalOf } from './actor.ts';

/** The `auth.jwt` block of the configuration. */
export interface JwtOptions {
  readonly issuer?: string | undefined;
  readonly audience?: readonly string[] | undefined;
  /** URL of the issuer's public keys. */
  readonly jwks_url?: string | undefined;
  /** Secret shared with the issuer, instead of public keys. */
  readonly secret?: string | undefined;
  /** A claim, or a dotted path. */
  readonly identity_claim: string;
  readonly permissions_claim: string;
  /** Users with this permission bypass ownership and see all rows. */
  readonly admin_permission?: string | undefined;
}

/** Minimum interval between JWKS fetches: a token may name any key, and must not trigger unlimited requests. */
const JWKS_COOLDOWN_MS = 5000;
/** Tolerated clock skew, s. */
const CLOCK_TOLERANCE_S = 10;
const PUBLIC_KEY_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const SECRET_ALGORITHMS = ['HS256', 'HS384', 'HS512'];

/**
 * JWTs of an identity provider, or signed by a backend. Fetches the JWKS on the first token and again for an unknown
 * key id, which supports key rotation.
 */
export function jwtAuthentication(options: JwtOptions, clock: Clock, refetch_ms = JWKS_COOLDOWN_MS) {
  const { issuer, audience, identity_claim, permissions_claim, admin_permission } = options;
  const key = keyOf(options, refetch_ms);
  const algorithms = options.secret === undefined ? PUBLIC_KEY_ALGORITHMS : SECRET_ALGORITHMS;

  async function claimsOf(token: string): Promise<JWTPayload> {
    const checks = {
      algorithms,
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(clock.now()),
      // A token without `exp` would never expire.
      requiredClaims: ['exp'],
      ...(issuer === undefined ? {} : { issuer }),
      ...(audience === undefined ? {} : { audience: [...audience] }),
    };
    try {
      return (await jwtVerify(token, key, checks)).payload;
    } catch (error) {
      throw jwtError(error);
    }
  }

  return async (token: string): Promise<Identity> => {
    const claims = await claimsOf(token);
    const identity = claimAt(claims, identity_claim);
    if (typeof identity !== 'string' || identity === '') {
      throw new Unauthorized(`The token has no claim '${identity_claim}', which identifies the user`);
    }
    const permissions = permissionsIn(claimAt(claims, permissions_claim));
    const isAdmin = admin_permission !== undefined && permissions.includes(admin_permission);
    return {
      user: {
        ...claims,
        identity,
        permissions,
        display_name: nameIn(claims, identity),
        is_authenticated: true,
      },
      scope: 'admin',
      rules: isAdmin ? [] : [ownerRule(identity)],
      principal: principalOf('user', identity),
    };
  };
}

function keyOf({ jwks_url, secret }: JwtOptions, refetch_ms: number): JWTVerifyGetKey {
  if (secret === undefined) {
    return createRemoteJWKSet(new URL(jwks_url as string), { cooldownDuration: refetch_ms });
  }
  const bytes = new TextEncoder().encode(secret);
  return async () => bytes;
}

/** Errors of fetching the JWKS: unreachable or invalid. */
const UNREACHABLE = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT']);

function jwtError(error: unknown): Error {
  if (error instanceof errors.JWTExpired) return new Unauthorized('The token has expired', { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new Unauthorized(`The token is not for this server: its claim '${error.claim}' does not match`, {
      cause: error,
    });
  }
  return !(error instanceof errors.JOSEError) || UNREACHABLE.has(error.code)
    ? new Unavailable('The keys of the identity provider are not available at the moment.', { cause: error })
    : new Unauthorized('The token is not valid', { cause: error });
}

function claimAt(claims: JWTPayload, path: string): unknown {
  // Claim names are often URLs, which contain dots.
  if (Object.hasOwn(claims, path)) return claims[path];
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      claims,
    );
}

/** A list, or a space-separated string like OAuth's `scope`. */
function permissionsIn(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(/\s+/).filter((word) => word !== '');
  return Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : [];
}

function nameIn({ name }: JWTPayload, identity: string): string {
  return typeof name === 'string' ? name : identity;
}
