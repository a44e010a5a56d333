import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { keyBytes, keyRing } from '../../../src/db/encryption/key-ring.ts';
import { problemsOf } from '../../support/config.ts';

test.each([16, 24, 32])(
  'an encryption key of %i bytes is accepted as characters, bytes, hexadecimal and base64',
  (size) => {
    const key = randomBytes(size);
    const characters = 'k'.repeat(size);
    expect(keyBytes(key)).toBe(key);
    expect(keyBytes(characters)).toEqual(Buffer.from(characters));
    // Of 16 bytes, 32 hexadecimal digits or 24 of base64 could be characters, and are.
    for (const text of [key.toString('hex'), key.toString('base64')].filter(({ length }) => length > 32)) {
      expect(keyBytes(text)).toEqual(key);
    }
  },
);

test.each(['', 'short', 'k'.repeat(17), 'k'.repeat(33), '=='.repeat(20)])(
  '%j is not accepted as an encryption key',
  (text) => {
    expect(keyBytes(text)).toBeUndefined();
  },
);

test('a key ring finds its keys by the id in an encrypted value, and accepts a duplicate key', () => {
  const [one, other] = [randomBytes(32), randomBytes(16)];
  const ring = keyRing(one, [other, one]);
  expect(ring.current.id).toMatch(/^[0-9a-f]{8}$/);
  expect(ring.find(ring.current.id)).toBeDefined();
  expect(ring.find(keyRing(other).current.id)).toBeDefined();
  expect(ring.find(keyRing(randomBytes(32)).current.id)).toBeUndefined();
});

const GRAPHS = 'graphs: { echo: "./echo.ts:graph" }\n';
const RULE = 'must be 16, 24 or 32 bytes, given as characters, in hexadecimal or in base64';

test('an invalid encryption key is reported in one line that does not show it', async () => {
  expect(await problemsOf(GRAPHS, { environment: { LANGGRAPH_AES_KEY: 'not-a-key' } })).toEqual([
    `LANGGRAPH_AES_KEY: encryption.key: ${RULE}`,
  ]);
  const environment = { LANGGRAPH_AES_KEY: 'k'.repeat(32), LANGGRAPH_AES_FALLBACK_KEYS: 'not-a-key' };
  expect(await problemsOf(GRAPHS, { environment })).toEqual([
    `LANGGRAPH_AES_FALLBACK_KEYS: encryption.fallback_keys: each ${RULE}`,
  ]);
});

test('fallback keys without a current encryption key are refused', async () => {
  const environment = { LANGGRAPH_AES_FALLBACK_KEYS: 'k'.repeat(32) };
  expect(await problemsOf(GRAPHS, { environment })).toEqual([
    'agent.config.yaml: encryption.key: is required if fallback_keys is set',
  ]);
});
