import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import type { Db } from '../../src/db/db.ts';
import { deliveryExplain } from '../../src/services/webhooks/delivery-explain.ts';
import type { AttemptRecord, DeliveryDecision } from '../../src/storage/webhooks/ack.ts';
import { webhookOutbox } from '../../src/storage/webhooks/outbox.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { naming } from '../support/naming.ts';
import { delivery, elapse } from '../support/outbox.ts';

const ME = systemActor('test');
const HOST = 'receiver.example';
const DAY_MS = 86_400_000;
const REFUSED = { status_code: 503, error: 'answered 503', answer: 'busy' };
const RETRY: DeliveryDecision = { outcome: 'retry', in_ms: 60_000, give_up_ms: DAY_MS };

function story(db: Db, { sends_webhooks = true } = {}) {
  const outbox = webhookOutbox(db);
  const { explain } = deliveryExplain({ outbox, sends_webhooks, give_up_ms: DAY_MS });
  const claim = async () => {
    const token = randomUUID();
    await outbox.claim({ host: HOST, token, worker_id: token, limit: 1, lease_ms: 60_000 });
    return token;
  };
  return {
    outbox,
    explain: (id: string) => explain(ME, id),
    claim,
    /** One attempt and what came of it. */
    async attempt(delivery_id: string, result: Partial<AttemptRecord>, decision: DeliveryDecision) {
      const token = await claim();
      const attempt = { started_at: '2026-06-01T12:00:00.000Z', duration_ms: 12, status_code: null };
      await outbox.ack(
        { delivery_id, token },
        { ...attempt, error: null, answer: null, answer_headers: null, ...result },
        decision,
      );
    },
  };
}

describeEachDatabase('the explanation of a delivery', (open) => {
  test('names the time when a due delivery is given up', async () => {
    await using db = await open();
    const { outbox, explain } = story(db);
    const delivery_id = await outbox.enqueue(delivery());

    const explained = await explain(delivery_id);
    expect(explained).toMatchObject({
      delivery_id,
      status: 'pending',
      tries: 0,
      is_being_sent: false,
      behind: null,
      max_tries: null,
      last_attempt: null,
      summary: naming('Due; the next process'),
    });
    expect(Date.parse(explained.gives_up_at as string) - Date.parse(explained.created_at)).toBe(DAY_MS);
  });

  test('names the number of other deliveries to the receiver', async () => {
    await using db = await open();
    const { outbox, explain } = story(db);
    await outbox.enqueue(delivery());
    await outbox.enqueue(delivery({ url: 'https://other.example/' }));
    const delivery_id = await outbox.enqueue(delivery());

    expect((await explain(delivery_id)).summary).toEqual(naming('Due, and waits', '1 more delivery'));
  });

  test('reports an attempt in progress', async () => {
    await using db = await open();
    const { outbox, explain, claim } = story(db);
    const delivery_id = await outbox.enqueue(delivery());
    await claim();

    expect(await explain(delivery_id)).toMatchObject({
      is_being_sent: true,
      tries: 1,
      summary: naming('Attempt 1 is under way'),
    });
  });

  test('names the next attempt and the last response', async () => {
    await using db = await open();
    const { outbox, explain, attempt } = story(db);
    const delivery_id = await outbox.enqueue(delivery());
    await attempt(delivery_id, REFUSED, RETRY);

    const explained = await explain(delivery_id);
    expect(explained).toMatchObject({ is_being_sent: false, tries: 1, last_attempt: REFUSED });
    expect(explained.summary).toEqual(
      naming(
        `Attempt 2 is due at ${explained.next_try_at}`,
        `gives up at ${explained.gives_up_at}`,
        'at 2026-06-01T12:00:00.000Z, failed: answered 503.',
      ),
    );
  });

  test('names the delivery of its task that it waits behind', async () => {
    await using db = await open();
    const { outbox, explain } = story(db);
    const first = await outbox.enqueue(delivery({ kind: 'a2a', lane: 'task' }));
    const second = await outbox.enqueue(delivery({ kind: 'a2a', lane: 'task' }));

    expect((await explain(first)).behind).toBeNull();
    expect(await explain(second)).toMatchObject({
      behind: first,
      summary: naming(`behind delivery ${first}`),
    });
  });

  test('reports that webhooks are disabled', async () => {
    await using db = await open();
    const { outbox, explain } = story(db, { sends_webhooks: false });
    const delivery_id = await outbox.enqueue(delivery());
    expect((await explain(delivery_id)).summary).toMatch(/^Not sent: .*http\.disable_webhooks/);
  });

  test('names the time of a successful delivery', async () => {
    await using db = await open();
    const { outbox, explain, attempt } = story(db);
    const delivery_id = await outbox.enqueue(delivery());
    await attempt(delivery_id, { status_code: 204 }, { outcome: 'delivered' });

    expect(await explain(delivery_id)).toMatchObject({
      status: 'delivered',
      gives_up_at: null,
      summary: expect.stringMatching(/^Delivered at .*Z after 1 attempt\.$/),
    });
  });

  test('names the reason why a rejected delivery was given up', async () => {
    await using db = await open();
    const { outbox, explain, attempt } = story(db);
    const delivery_id = await outbox.enqueue(delivery());
    const gone = { status_code: 410, error: 'answered 410', answer: 'gone' };
    await attempt(delivery_id, gone, { outcome: 'dead' });

    expect(await explain(delivery_id)).toMatchObject({
      status: 'dead',
      last_attempt: gone,
      summary: naming('Given up at ', 'after 1 attempt', 'answered 410', '/redeliver'),
    });
  });

  test('names the time after which an unanswered delivery was given up', async () => {
    await using db = await open();
    const { outbox, explain, attempt } = story(db);
    const delivery_id = await outbox.enqueue(delivery({ max_tries: 1 }));
    await elapse(db, DAY_MS);
    await attempt(delivery_id, { error: 'not reached: ECONNREFUSED' }, RETRY);

    expect((await explain(delivery_id)).summary).toEqual(
      naming('after 12 ms: not reached: ECONNREFUSED.', 'only once', 'POST'),
    );
  });

  test('is refused to a user who may not read its thread', async () => {
    await using db = await open();
    const { outbox } = story(db);
    const delivery_id = await outbox.enqueue(delivery({ metadata: { owner: 'alice' } }));
    const { explain } = deliveryExplain({ outbox, sends_webhooks: true, give_up_ms: DAY_MS });
    const bob = { ...ME, rules: [() => ({ metadata: { contains: { owner: 'bob' } } })] };
    await expect(explain(bob, delivery_id)).rejects.toThrow(`Delivery ${delivery_id} not found`);
  });
});
