import { generateKeyPairSync } from 'node:crypto';
import { resolve } from 'node:path';
import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import { importJWK } from 'jose';
import { describe, expect, test } from 'vitest';
import { signingKey } from '../../../src/core/signing-key.ts';
import { rpcTo } from '../../support/a2a.ts';
import { openApp } from '../../support/app.ts';

const folder = resolve(import.meta.dirname, '../../fixtures/auth');
const ALICE = { authorization: 'Bearer alice-token' };
const MODERN = { ...ALICE, 'a2a-version': '1.0' };
const CARDS = [
  '/a2a/echo/.well-known/agent-card.json',
  '/a2a/echo',
  '/.well-known/agent-card.json?assistant_id=echo',
];

async function opened(a2a: object) {
  const rules = { card_default: 'hybrid', card_access: 'protected', body_limit: 1024 } as const;
  return openApp({ graphs: ['echo'], folder, http: { a2a: { ...rules, ...a2a } } });
}

test('only public cards can be read without authentication', async () => {
  await using server = await opened({ card_access: 'public' });
  for (const url of CARDS) {
    const { status, headers, body } = await server.get(url);
    expect([url, status, headers['cache-control']]).toEqual([url, 200, 'public, max-age=60']);
    expect(body.supportsAuthenticatedExtendedCard).toBe(true);
  }
  expect((await server.get('/a2a/echo/extendedAgentCard')).status).toBe(401);
  expect((await server.get('/a2a/echo/tasks')).status).toBe(401);
  expect((await server.post('/a2a/echo', {})).status).toBe(401);
  expect((await server.get('/.well-known/jwks.json', ALICE)).status).toBe(404);
});

describe('signed cards', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signing_key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

  test('can be verified with the keys that their signature names, including the extended card', async () => {
    await using server = await opened({ signing_key });
    const { body: card } = await server.get(CARDS[0] as string, MODERN);
    const { body: hybrid } = await server.get(CARDS[0] as string, ALICE);
    const { result: extended } = await rpcTo(server, 'echo')('GetExtendedAgentCard', {}, ALICE);
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      expect(jku).toMatch(/\/\.well-known\/jwks\.json$/);
      const { body } = await server.get(new URL(jku as string).pathname);
      expect(body.keys).toMatchObject([{ kid, alg: 'ES256', use: 'sig' }]);
      expect(body.keys[0]).not.toHaveProperty('d');
      return importJWK(body.keys[0]) as ReturnType<Parameters<typeof verifyAgentCardSignature>[0]>;
    });
    for (const each of [card, hybrid, extended]) await verify(AgentCard.fromJSON(each));
    const changed = { ...card, name: 'somebody else' };
    await expect(verify(AgentCard.fromJSON(changed))).rejects.toThrow();

    // A card is signed anew each time, and is the same card.
    const { headers } = await server.get(CARDS[0] as string, MODERN);
    const known = { ...MODERN, 'if-none-match': String(headers['etag']) };
    expect((await server.get(CARDS[0] as string, known)).status).toBe(304);
  });

  test.each([
    ['ec P-256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'ES256'],
    ['ec P-384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' }), 'ES384'],
    ['Ed25519', () => generateKeyPairSync('ed25519'), 'EdDSA'],
    ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2048 }), 'RS256'],
    ['ec secp256k1', () => generateKeyPairSync('ec', { namedCurve: 'secp256k1' }), undefined],
    ['X25519', () => generateKeyPairSync('x25519'), undefined],
  ])('accept a key %s in PEM and as a JWK', (_name, pair, alg) => {
    const key = pair().privateKey;
    const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(signingKey(pem)?.alg).toBe(alg);
    expect(signingKey(JSON.stringify(key.export({ format: 'jwk' })))?.alg).toBe(alg);
  });

  test('accept neither a public key nor any other text', () => {
    const { publicKey } = generateKeyPairSync('ed25519');
    expect(signingKey(publicKey.export({ type: 'spki', format: 'pem' }).toString())).toBeUndefined();
    for (const text of ['', '{', 'a secret']) expect(signingKey(text)).toBeUndefined();
  });
});
