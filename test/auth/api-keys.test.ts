import { expect, test } from 'vitest';
import { generateKey, keyRing } from '../../src/auth/api-keys.ts';
import { InsufficientStorage } from '../../src/core/errors.ts';
import { systemIds } from '../../src/core/ids.ts';
import type { ApiKey } from '../../src/storage/access/api-keys.ts';

const AT = '2026-06-01T12:00:00.000Z';

/** A ring over one stored key, with a clock that stands still; `reads` are answered by the test. */
function story(recordUse = async () => {}) {
  const clock = { ms: Date.parse(AT), now: () => clock.ms, monotonic: () => clock.ms };
  const given = { name: 'test', scope: 'run', created_at: AT, expires_at: null } as const;
  const { key, record } = generateKey(systemIds(clock), given);
  let stored: ApiKey = { ...record, last_used_at: AT };
  const gate = { open: Promise.resolve() };
  const read = async () => {
    const found = stored;
    await gate.open;
    return found;
  };
  const ring = keyRing({
    api_keys: [],
    clock,
    stored: {
      findByDigest: read,
      get: read,
      recordUse,
    },
  });
  return {
    ring,
    key,
    clock,
    gate,
    revoke(at = AT) {
      stored = { ...stored, revoked_at: at };
    },
    key_id: record.key_id,
  };
}

test('a key that another process revoked is still accepted for a second', async () => {
  const { ring, key, clock, revoke } = story();
  expect(await ring.identify(key)).toMatchObject({ scope: 'run' });
  revoke();
  clock.ms += 999;
  expect(await ring.identify(key)).toMatchObject({ scope: 'run' });
  clock.ms += 1;
  await expect(ring.identify(key)).rejects.toThrow('This API key was revoked');
});

test('a key that this process revoked is rejected immediately', async () => {
  const { ring, key, key_id, revoke } = story();
  await ring.identify(key);
  expect(await ring.isValid(key_id)).toBe(true);
  revoke();
  ring.forget(key_id);
  await expect(ring.identify(key)).rejects.toThrow('This API key was revoked');
  expect(await ring.isValid(key_id)).toBe(false);
});

test('a key that is revoked while it is being read is not cached', async () => {
  const { ring, key, key_id, revoke, gate } = story();
  const reading = Promise.withResolvers<void>();
  gate.open = reading.promise;
  const before = ring.identify(key);
  revoke();
  ring.forget(key_id);
  reading.resolve();
  await before;
  await expect(ring.identify(key)).rejects.toThrow('This API key was revoked');
});

test('a key is accepted while the disk is full, although its use cannot be recorded', async () => {
  const { ring, key, clock } = story(async () => {
    throw new InsufficientStorage('The disk is full');
  });
  clock.ms += 11 * 60_000;
  expect(await ring.identify(key)).toMatchObject({ scope: 'run' });
});
