import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  type ClaimedKey,
  type IdempotencyKey,
  type IdempotencyRepository,
  idempotencyRepository,
  type KeyClaimRules,
} from '../../src/storage/idempotency.ts';
import { describeEachStorage } from '../support/databases.ts';
import { newRun, queueStory, request } from '../support/queued-runs.ts';

const KEY = { owner: 'ada', key: 'k1' };
const RULES = { retention_ms: 60_000, claim_ms: 60_000, worker_id: randomUUID(), is_processing: true };
const ANSWER = { status: 200, headers: { location: '/there' }, body: '{"a":1}' };

/** Claims a key for a request. */
async function claimed(
  keys: IdempotencyRepository,
  key: IdempotencyKey,
  rules: Partial<KeyClaimRules> = {},
): Promise<ClaimedKey> {
  const claim = await keys.claim(key, 'one', { ...RULES, ...rules });
  if (claim.outcome !== 'new') throw new Error(`The key is ${claim.outcome}.`);
  return { ...key, claimed_until: claim.claimed_until };
}

describeEachStorage('an Idempotency-Key', (open) => {
  test('belongs to one request of one client', async () => {
    await using db = await open();
    const keys = idempotencyRepository(db);
    const outcomes = await Promise.all([keys.claim(KEY, 'one', RULES), keys.claim(KEY, 'one', RULES)]);
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['in progress', 'new']);
    expect(await keys.claim(KEY, 'other', RULES)).toEqual({ outcome: 'other request' });
    expect(await keys.claim({ ...KEY, owner: 'eve' }, 'other', RULES)).toMatchObject({ outcome: 'new' });
  });

  test('returns the stored response', async () => {
    await using db = await open();
    const keys = idempotencyRepository(db);
    await keys.saveResponse(await claimed(keys, KEY), ANSWER);
    expect(await keys.claim(KEY, 'one', RULES)).toEqual({ outcome: 'answered', answer: ANSWER });
  });

  test('is stored in the transaction of its run, or not at all', async () => {
    await using db = await open();
    const keys = idempotencyRepository(db);
    const { queue, add } = queueStory(db);
    await keys.claim(KEY, 'one', RULES);
    const thread_id = randomUUID();
    await add(thread_id);
    const run = newRun(thread_id);
    await queue.enqueue({ ...request(run), others: 'reject', cargo: { idempotency: KEY } });
    expect(await keys.claim(KEY, 'one', RULES)).toEqual({ outcome: 'in progress' });
    await queue.enqueue({ ...request(run), cargo: { idempotency: KEY } });
    expect(await keys.claim(KEY, 'one', RULES)).toEqual({ outcome: 'run made', run });
    await keys.release(KEY, RULES.worker_id);
    expect(await keys.claim(KEY, 'one', RULES)).toEqual({ outcome: 'run made', run });
  });

  test('keeps the response of the retry when the first request outlives its claim', async () => {
    await using db = await open();
    const keys = idempotencyRepository(db);
    const slow = await claimed(keys, KEY, { claim_ms: -1 });
    const retry = await claimed(keys, KEY);
    await keys.saveResponse(slow, { ...ANSWER, body: '{"a":"late"}' });
    expect(await keys.claim(KEY, 'one', RULES)).toEqual({ outcome: 'in progress' });
    await keys.release(slow, RULES.worker_id);
    await keys.saveResponse(retry, ANSWER);
    await keys.saveResponse(slow, { ...ANSWER, body: '{"a":"late"}' });
    expect(await keys.claim(KEY, 'one', RULES)).toEqual({ outcome: 'answered', answer: ANSWER });
  });

  test('is released when its request fails', async () => {
    await using db = await open();
    const keys = idempotencyRepository(db);
    await keys.release(await claimed(keys, KEY), RULES.worker_id);
    expect(await keys.claim(KEY, 'other', RULES)).toMatchObject({ outcome: 'new' });
    // Its server is gone.
    await keys.claim({ ...KEY, key: 'k2' }, 'one', { ...RULES, claim_ms: -1 });
    expect(await keys.claim({ ...KEY, key: 'k2' }, 'one', RULES)).toMatchObject({ outcome: 'new' });
    expect(await keys.claim({ ...KEY, key: 'k2' }, 'one', RULES)).toEqual({ outcome: 'in progress' });
  });

  test('stays with the process that took it over when the previous one releases it', async () => {
    await using db = await open();
    const keys = idempotencyRepository(db);
    const first = await claimed(keys, KEY, { claim_ms: -1 });
    const next = { ...RULES, worker_id: randomUUID() };
    const second = await claimed(keys, KEY, next);
    await keys.release(first, RULES.worker_id);
    expect(await keys.claim(KEY, 'other', RULES)).toEqual({ outcome: 'other request' });
    await keys.release(second, next.worker_id);
    expect(await keys.claim(KEY, 'other', RULES)).toMatchObject({ outcome: 'new' });
  });

  test('is released when the only server restarts', async () => {
    await using db = await open();
    const keys = idempotencyRepository(db);
    await claimed(keys, { ...KEY, key: 'open' });
    await keys.saveResponse(await claimed(keys, { ...KEY, key: 'answered' }), ANSWER);
    await keys.releaseAll();
    expect(await keys.claim({ ...KEY, key: 'open' }, 'one', RULES)).toMatchObject({ outcome: 'new' });
    expect(await keys.claim({ ...KEY, key: 'answered' }, 'one', RULES)).toMatchObject({
      outcome: 'answered',
    });
  });

  test('creates one run even if two servers claim it', async () => {
    await using db = await open();
    const keys = idempotencyRepository(db);
    const { queue } = queueStory(db);
    const thread_id = randomUUID();
    await keys.claim(KEY, 'one', { ...RULES, claim_ms: -1 });
    expect(await keys.claim(KEY, 'one', RULES)).toMatchObject({ outcome: 'new' });
    const [first, second] = [newRun(thread_id), newRun(thread_id)];
    expect(await queue.enqueue({ ...request(first), cargo: { idempotency: KEY } })).toMatchObject({
      outcome: 'queued',
    });
    expect(await queue.enqueue({ ...request(second), cargo: { idempotency: KEY } })).toMatchObject({
      outcome: 'refused',
      refusal: { status: 409 },
    });
    expect(await keys.claim(KEY, 'one', RULES)).toMatchObject({ outcome: 'run made', run: first });
  });

  test('expires after its retention', async () => {
    await using db = await open();
    const keys = idempotencyRepository(db);
    for (const key of ['a', 'b', 'c']) {
      await keys.saveResponse(await claimed(keys, { ...KEY, key }, { retention_ms: -1 }), ANSWER);
    }
    expect(await keys.claim({ ...KEY, key: 'a' }, 'other', RULES)).toMatchObject({ outcome: 'new' });
    expect([await keys.deleteExpired(1), await keys.deleteExpired(10), await keys.deleteExpired(10)]).toEqual(
      [1, 1, 0],
    );
  });
});
