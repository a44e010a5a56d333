import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Actor } from '../../src/auth/actor.ts';
import { UNRESTRICTED } from '../../src/auth/actor.ts';
import { type IdempotencyContext, idempotencyService } from '../../src/services/idempotency.ts';
import { type IdempotencyRepository, idempotencyRepository } from '../../src/storage/idempotency.ts';
import { describeEachDatabase, type OpenDatabase } from '../support/databases.ts';

const ACTOR: Actor = { ...UNRESTRICTED, request_id: 'r1' };
const REQUEST = { method: 'POST', url: '/threads', body: {} };
const ANSWER = { status: 200, headers: {}, body: '{"a":1}' };

describeEachDatabase('a repeated request', (open) => {
  test('is refused until the answer of the first one is stored', async () => {
    const stored = Promise.withResolvers<void>();
    await using story = await begun(open, (keys) => ({
      saveResponse: async (key, response) => {
        await stored.promise;
        await keys.saveResponse(key, response);
      },
    }));
    const storing = story.service.store(story.first, ANSWER);
    await expect(story.repeat()).rejects.toThrow('is being answered');
    stored.resolve();
    await storing;
    expect(await story.repeat()).toEqual({ answer: ANSWER });
  });

  test('is refused while the first one has yet to take the key', async () => {
    await using db = await open();
    const service = idempotencyService({ keys: idempotencyRepository(db), worker_id: randomUUID() });
    const begin = () => service.begin(ACTOR, 'k1', REQUEST);
    const [first, second] = await Promise.allSettled([begin(), begin()]);
    expect([first.status, second.status].sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('takes a key that the first one released, even if that one learns of the release later', async () => {
    const [deleted, heard] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using story = await begun(open, (keys) => ({
      release: async (...key) => {
        await keys.release(...key);
        deleted.resolve();
        await heard.promise;
      },
    }));
    const releasing = story.service.release(story.first);
    await deleted.promise;
    const repeated = story.repeat();
    heard.resolve();
    await releasing;
    await repeated;
    await expect(story.repeat()).rejects.toThrow('is being answered');
  });

  test('keeps a key that it took over when the first one gives up late', async () => {
    await using story = await begun(open, (keys) => ({
      // As if more than a minute had passed.
      claim: (key, request, rules) => keys.claim(key, request, { ...rules, is_processing: false }),
    }));
    await story.repeat();
    await story.service.release(story.first);
    const rules = { retention_ms: 60_000, claim_ms: 60_000, worker_id: randomUUID(), is_processing: false };
    expect(await story.keys.claim(story.first, 'other', rules)).toEqual({ outcome: 'other request' });
  });
});

/** A request in progress under a key. `changed`: what of the storage does otherwise. */
async function begun(
  open: OpenDatabase,
  changed: (keys: IdempotencyRepository) => Partial<IdempotencyRepository>,
) {
  const db = await open();
  const keys = idempotencyRepository(db);
  const service = idempotencyService({
    keys: Object.assign({}, keys, changed(keys)),
    worker_id: randomUUID(),
  });
  const repeat = () => service.begin(ACTOR, 'k1', REQUEST);
  const first = (await repeat()) as IdempotencyContext;
  return { keys, service, first, repeat, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}
