import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../../src/db/db.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import type { AttemptRecord } from '../../../src/storage/webhooks/ack.ts';
import { type WebhookOutbox, webhookOutbox } from '../../../src/storage/webhooks/outbox.ts';
import { describeEachStorage } from '../../support/databases.ts';
import { delivery, elapse } from '../../support/outbox.ts';
import { FAILURE_RULES, WORKER } from '../../support/queued-runs.ts';

const HOST = 'receiver.example';
const DAY_MS = 86_400_000;
const REFUSED: AttemptRecord = {
  started_at: '2026-11-20T12:00:00.000Z',
  duration_ms: 12,
  status_code: 503,
  error: 'answered 503',
  answer: 'busy',
  answer_headers: { 'content-type': 'text/plain' },
};

function claim(
  outbox: WebhookOutbox,
  { host = HOST, limit = 10, token = randomUUID() as string, worker_id = WORKER.worker_id } = {},
) {
  return outbox.claim({ host, token, worker_id, limit, lease_ms: 60_000 });
}

/** The dead workers that the reaper finds with claims. */
function lostSenders(db: Db, worker_id: string) {
  let found: readonly string[] = [];
  const onLostSenders = (worker_ids: readonly string[]) => {
    found = worker_ids;
  };
  return async () => {
    found = [];
    expect(await runQueue(db).reap({ ...FAILURE_RULES, worker_id, backoff_ms: 0, onLostSenders })).toBe(0);
    return found;
  };
}

describeEachStorage('the outbox', (open) => {
  test('a delivery is claimed by one process, as it was created', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const delivery_id = await outbox.enqueue(
      delivery({ headers: { 'x-a': '1' }, sent_at_field: 'sent_at', max_tries: 1 }),
    );
    expect(delivery_id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(await outbox.pendingHosts()).toEqual([{ host: HOST, due_in_ms: 0 }]);

    const both = (await Promise.all([claim(outbox), claim(outbox)])).flat();

    expect(both).toEqual([
      {
        assistant_id: null,
        delivery_id,
        kind: 'run',
        run_id: null,
        thread_id: null,
        url: 'https://receiver.example/hook',
        shown_url: 'https://receiver.example/hook',
        headers: { 'x-a': '1' },
        sent_at_field: 'sent_at',
        max_tries: 1,
        tries: 1,
        body: '{"n":1}',
      },
    ]);
  });

  test('a delivery claimed by a dead process is released when its lease ends', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const delivery_id = await outbox.enqueue(delivery());
    const dead = randomUUID();
    await claim(outbox, { token: dead });
    expect(await claim(outbox)).toEqual([]);

    await elapse(db, 60_001);

    expect(await claim(outbox)).toMatchObject([{ delivery_id, tries: 2 }]);
    const late = await outbox.ack({ delivery_id, token: dead }, REFUSED, { outcome: 'dead' });
    expect(late).toBe('lease lost');
    expect(await outbox.get(delivery_id)).toMatchObject({ status: 'pending' });
  });

  test('a delivery released by a stopping process is due at once and not counted as tried', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const delivery_id = await outbox.enqueue(delivery());
    const token = randomUUID();
    await claim(outbox, { token });

    await outbox.release({ delivery_id, token });
    expect(await claim(outbox)).toMatchObject([{ tries: 1 }]);
    await outbox.releaseAll();
    expect(await claim(outbox)).toMatchObject([{ tries: 2 }]);
  });

  test('a stopping process still acknowledges what was sent with what it gives back', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const [sent, unsent] = [await outbox.enqueue(delivery()), await outbox.enqueue(delivery())];
    const token = randomUUID();
    await claim(outbox, { token, limit: 2 });

    await outbox.release({ delivery_id: unsent, token });

    const attempt = { ...REFUSED, status_code: 200, error: null };
    expect(await outbox.ack({ delivery_id: sent, token }, attempt, { outcome: 'delivered' })).toBe(
      'delivered',
    );
    expect(await claim(outbox, { limit: 2 })).toMatchObject([{ delivery_id: unsent, tries: 1 }]);
  });

  test('deliveries claimed by dead workers are released, and those of live workers are kept', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const [alive, dead, reaper] = [randomUUID(), randomUUID(), randomUUID()];
    const lost = lostSenders(db, reaper);
    await runQueue(db).heartbeat({ ...WORKER, worker_id: alive }, 60_000);
    for (const host of ['dead.example', 'alive.example', 'reaper.example'])
      await outbox.enqueue(delivery({ url: `https://${host}/hook` }));
    const ofDead = randomUUID();
    const [claimed] = await claim(outbox, { host: 'dead.example', token: ofDead, worker_id: dead });
    await claim(outbox, { host: 'alive.example', worker_id: alive });
    // Its event loop was blocked for longer than its lease.
    await claim(outbox, { host: 'reaper.example', worker_id: reaper });

    expect(await lost()).toEqual([dead]);
    // A worker that is back before its claims are released keeps them.
    expect(await outbox.releaseLost([alive, dead])).toBe(1);
    const due = (await outbox.pendingHosts()).filter(({ due_in_ms }) => due_in_ms === 0);
    expect(due).toEqual([{ host: 'dead.example', due_in_ms: 0 }]);
    expect(await lost()).toEqual([]);

    const delivery_id = claimed?.delivery_id ?? '';
    const late = await outbox.ack({ delivery_id, token: ofDead }, REFUSED, { outcome: 'dead' });
    expect(late).toBe('lease lost');
    const token = randomUUID();
    const again = await claim(outbox, { host: 'dead.example', token, worker_id: dead });
    expect(again).toMatchObject([{ delivery_id, tries: 2 }]);
    const retry = { outcome: 'retry', in_ms: 3_600_000, give_up_ms: DAY_MS } as const;
    expect(await outbox.ack({ delivery_id, token }, REFUSED, retry)).toBe('pending');
    // Nobody sends it while it waits: the back-off stays when its last sender is gone.
    expect(await lost()).toEqual([]);
  });

  test('a failed delivery is retried later, and is dead after the retry period', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const delivery_id = await outbox.enqueue(delivery());
    const token = randomUUID();
    const retry = { outcome: 'retry', in_ms: 3_600_000, give_up_ms: DAY_MS } as const;

    await claim(outbox, { token });
    expect(await outbox.ack({ delivery_id, token }, REFUSED, retry)).toBe('pending');
    const [waiting] = await outbox.pendingHosts();
    expect(waiting?.due_in_ms).toBeGreaterThan(3_590_000);
    expect(await claim(outbox)).toEqual([]);

    await elapse(db, DAY_MS - 60_000);
    await claim(outbox, { token });
    expect(await outbox.ack({ delivery_id, token }, REFUSED, retry)).toBe('pending');
    const [last] = await outbox.pendingHosts();
    expect(last?.due_in_ms).toBeLessThan(61_000);

    await elapse(db, 61_000);
    await claim(outbox, { token });
    expect(await outbox.ack({ delivery_id, token }, REFUSED, retry)).toBe('dead');
    expect(await outbox.get(delivery_id)).toMatchObject({ status: 'dead', tries: 3, next_try_at: null });
    expect((await outbox.attemptsOf(delivery_id)).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(await outbox.stats()).toEqual({ pending: 0, dead: 1, oldest_pending_secs: null });
  });

  test('a redelivered dead delivery keeps its id and gets a new retry period', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const delivery_id = await outbox.enqueue(delivery());
    const token = randomUUID();
    await claim(outbox, { token });
    await outbox.ack({ delivery_id, token }, REFUSED, { outcome: 'dead' });
    await elapse(db, 2 * DAY_MS);

    expect(await outbox.redeliver(delivery_id)).toBe(true);
    expect(await outbox.redeliver(randomUUID())).toBe(false);

    expect(await claim(outbox, { token })).toMatchObject([{ delivery_id, tries: 1 }]);
    const retry = { outcome: 'retry', in_ms: 1000, give_up_ms: DAY_MS } as const;
    expect(await outbox.ack({ delivery_id, token }, REFUSED, retry)).toBe('pending');
  });

  test('deliveries are claimed for each host separately, the longest due first', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    for (const host of ['b', 'a', 'c:81', 'a', 'b']) {
      await outbox.enqueue(delivery({ url: `http://${host}/hook` }));
      await elapse(db, 10);
    }
    await outbox.enqueue(delivery({ url: '/own/route' }));

    const hosts = await outbox.pendingHosts();

    expect(hosts.map(({ host }) => host)).toEqual(['b', 'a', 'c:81', '']);
    expect(await claim(outbox, { host: 'a', limit: 1 })).toHaveLength(1);
    expect(await claim(outbox, { host: 'a' })).toHaveLength(1);
    expect(await claim(outbox, { host: 'c:81' })).toHaveLength(1);
    expect(await claim(outbox, { host: '' })).toMatchObject([{ url: '/own/route' }]);
  });

  test('deliveries of a lane are sent one after the other, and others concurrently', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    for (const body of ['1', '2']) await outbox.enqueue(delivery({ lane: 'task', body }));
    await outbox.enqueue(delivery({ body: '3' }));
    const token = randomUUID();

    const first = await claim(outbox, { token });

    expect(first.map(({ body }) => body)).toEqual(['1', '3']);
    expect(await claim(outbox)).toEqual([]);
    const delivery_id = first[0]?.delivery_id as string;
    await outbox.ack({ delivery_id, token }, REFUSED, { outcome: 'delivered' });
    expect(await claim(outbox)).toMatchObject([{ body: '2' }]);
  });

  test('deliveries are found by run, status and address, without secrets', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const run_id = randomUUID();
    const delivery_id = await outbox.enqueue(
      delivery({ run_id, url: 'https://u:p@receiver.example/hook?token=s3cret' }),
    );
    await outbox.enqueue(delivery({ url: 'https://other.example/hook' }));
    const page = { limit: 10, offset: 0 };
    const ids = async (search: object) =>
      (await outbox.search({ ...page, ...search })).map((found) => found.delivery_id);

    expect(await ids({})).toHaveLength(2);
    expect(await ids({ limit: 1, offset: 1 })).toEqual([delivery_id]);
    expect(await ids({ run_id })).toEqual([delivery_id]);
    expect(await ids({ status: 'dead' })).toEqual([]);
    expect(await ids({ status: 'pending' })).toHaveLength(2);
    expect(await ids({ url: 'https://***@receiver.example/' })).toEqual([delivery_id]);
    expect(await ids({ url: 'https://u:p@receiver.example/hook?token=s' })).toEqual([]);
    expect(await outbox.get(delivery_id)).toMatchObject({
      url: 'https://***@receiver.example/hook?token=***',
      next_try_at: expect.any(String),
    });
  });

  test('the age of the oldest pending delivery is reported', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    await outbox.enqueue(delivery());
    await elapse(db, 90_000);
    await outbox.enqueue(delivery());

    const { pending, oldest_pending_secs } = await outbox.stats();
    expect(pending).toBe(2);
    expect(oldest_pending_secs).toBeGreaterThanOrEqual(90);
    expect(oldest_pending_secs).toBeLessThan(120);
  });

  test('ended deliveries are deleted with their attempts after the retention', async () => {
    await using db = await open();
    const outbox = webhookOutbox(db);
    const delivery_id = await outbox.enqueue(delivery());
    const token = randomUUID();
    await claim(outbox, { token });
    await outbox.ack({ delivery_id, token }, REFUSED, { outcome: 'delivered' });
    await outbox.enqueue(delivery());

    expect(await outbox.deleteEnded(60_000, 10)).toBe(0);
    expect(await outbox.deleteEnded(-1000, 10)).toBe(1);
    expect(await outbox.attemptsOf(delivery_id)).toEqual([]);
    expect(await outbox.stats()).toEqual({ pending: 1, dead: 0, oldest_pending_secs: expect.any(Number) });
  });
});
