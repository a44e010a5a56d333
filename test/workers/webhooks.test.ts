import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { describeEachDatabase } from '../support/databases.ts';
import { dispatching } from '../support/dispatching.ts';
import { naming } from '../support/naming.ts';
import { elapse } from '../support/outbox.ts';
import { type Received, receiver } from '../support/receiver.ts';

const secret = () => `whsec_${randomBytes(24).toString('base64')}`;

describeEachDatabase('the dispatcher', (open) => {
  test('posts a delivery once, with the headers of every delivery', async () => {
    await using db = await open();
    await using hook = await receiver();
    await using story = dispatching(db, { rules: { headers: { Authorization: 'Bearer t', 'X-All': '1' } } });
    const delivery_id = await story.enqueue({
      url: `${hook.url}/hook?token=abc`,
      body: '{"n":1}',
      sent_at_field: 'sent_at',
      headers: { 'x-own': '2' },
    });

    await story.turn();
    await story.turn();

    expect(hook.received).toEqual([
      expect.objectContaining({
        path: '/hook?token=abc',
        body: { n: 1, sent_at: '2026-11-20T12:00:00.500Z' },
      }),
    ]);
    expect(hook.received[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      accept: '*/*',
      authorization: 'Bearer t',
      'x-all': '1',
      'x-own': '2',
      'webhook-id': delivery_id,
      'webhook-timestamp': String(Date.parse('2026-11-20T12:00:00Z') / 1000),
    });
    expect(hook.received[0]?.headers).not.toHaveProperty('webhook-signature');
    expect(await story.look(delivery_id)).toMatchObject({
      status: 'delivered',
      next_try_at: null,
      attempts: [{ attempt: 1, status_code: 200, error: null, answer: null }],
    });
    expect(story.dispatcher.tries).toEqual({ delivered: 1, failed: 0 });
  });

  test('signs as specified by Standard Webhooks, with both secrets during a rotation', async () => {
    await using db = await open();
    await using hook = await receiver();
    const [fresh, old] = [secret(), secret()];
    await using story = dispatching(db, { rules: { secrets: [fresh, old] } });
    await story.enqueue({ url: hook.url, body: '{"ü":"€"}' });
    await story.turn();

    const { headers, text } = hook.received[0] as Received;
    // The library refuses what is older than five minutes; what it signs itself is the same.
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    const id = String(headers['webhook-id']);
    const signed = [fresh, old].map((each) => new Webhook(each).sign(id, at, text));
    expect(headers['webhook-signature']).toBe(signed.join(' '));
  });

  test('retries with increasing delays until it is accepted: 500 five times, then 200', async () => {
    await using db = await open();
    await using hook = await receiver();
    await using story = dispatching(db);
    hook.answers.push(500, 500, 500, 500, 500);
    const delivery_id = await story.enqueue({ url: hook.url });

    for (let tries = 1; tries <= 5; tries++) {
      await story.turn();
      await elapse(db, story.waits_ms.at(-1) as number);
    }
    await story.turn();

    expect(story.waits_ms).toEqual([1000, 2000, 4000, 8000, 16_000, undefined]);
    const { status, attempts } = await story.look(delivery_id);
    expect(status).toBe('delivered');
    expect(attempts.map(({ status_code }) => status_code)).toEqual([500, 500, 500, 500, 500, 200]);
    expect(new Set(hook.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([delivery_id]),
    );
  });

  test('gives up after the retry period, and retries on request', async () => {
    await using db = await open();
    await using hook = await receiver();
    await using story = dispatching(db);
    hook.answers.push(503, 503);
    const of = { run_id: randomUUID(), thread_id: randomUUID() };
    const delivery_id = await story.enqueue({ url: hook.url, ...of });
    await story.turn();
    await elapse(db, 86_400_000);
    await story.turn();
    expect(await story.look(delivery_id)).toMatchObject({ status: 'dead', next_try_at: null });

    await story.outbox.redeliver(delivery_id);
    await story.turn();

    expect(await story.look(delivery_id)).toMatchObject({
      status: 'delivered',
      attempts: [{}, {}, { attempt: 3 }],
    });
    expect(story.log).toMatchObject([
      { message: 'webhook failed, retrying', fields: of },
      { message: naming('giving up'), fields: of },
      { message: 'webhook delivered', fields: of },
    ]);
  });

  test('a receiver that is down delays no other receiver', async () => {
    await using db = await open();
    await using down = await receiver();
    await using up = await receiver();
    await using story = dispatching(db);
    const never = () => {};
    down.answers.push(...Array<typeof never>(4).fill(never));
    for (let i = 0; i < 1000; i++) await story.enqueue({ url: down.url, body: `{"i":${i}}` });
    for (let i = 0; i < 10; i++) await story.enqueue({ url: up.url, body: `{"i":${i}}` });

    story.dispatcher.start(() => true);
    await up.came(10);
    await down.came(4);

    expect(up.received.map(({ body }) => body['i']).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(down.received).toHaveLength(4);
  });

  test('receivers that do not respond delay no receiver that did, in any number', async () => {
    await using db = await open();
    await using silent = await receiver();
    await using good = await receiver();
    await using story = dispatching(db);
    const goodUrl = good.url.replace('127.0.0.1', 'good.test');
    await story.enqueue({ url: goodUrl });
    await story.turn();
    silent.answers.push(...Array<() => void>(64).fill(() => {}));
    for (let i = 0; i < 64; i++) {
      await story.enqueue({ url: silent.url.replace('127.0.0.1', `silent${i}.example`) });
    }
    await story.enqueue({ url: goodUrl });

    story.dispatcher.start(() => true);
    await good.came(2);
    await silent.came(16);

    expect(silent.received).toHaveLength(16);
  });

  test('names of one domain that do not respond do not delay a receiver that was never tried', async () => {
    await using db = await open();
    await using silent = await receiver();
    await using good = await receiver();
    await using story = dispatching(db);
    silent.answers.push(...Array<() => void>(64).fill(() => {}));
    for (let i = 0; i < 64; i++) {
      await story.enqueue({ url: silent.url.replace('127.0.0.1', `${i}.silent.example`) });
    }
    await story.enqueue({ url: good.url.replace('127.0.0.1', 'good.test') });

    story.dispatcher.start(() => true);
    await good.came(1);
    await silent.came(8);

    expect(silent.received).toHaveLength(8);
  });

  test('a receiver that did not respond gets one delivery at a time until it does', async () => {
    await using db = await open();
    await using hook = await receiver();
    await using story = dispatching(db, { timeout_ms: 2000 });
    hook.answers.push(...Array<() => void>(4).fill(() => {}));
    for (let i = 0; i < 12; i++) await story.enqueue({ url: hook.url });
    const sent: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      const before = hook.received.length;
      await story.dispatcher.tick();
      await story.dispatcher.drained();
      sent.push(hook.received.length - before);
    }
    expect(sent).toEqual([4, 1, 4]);
  });

  test('two dispatchers share deliveries and send none twice', async () => {
    await using db = await open();
    await using hook = await receiver();
    await using one = dispatching(db);
    await using other = dispatching(db);
    for (let i = 0; i < 40; i++) await one.enqueue({ url: hook.url, body: `{"i":${i}}` });

    await Promise.all([one.turn(), other.turn()]);

    expect(new Set(hook.received.map(({ headers }) => headers['webhook-id']))).toHaveProperty('size', 40);
    expect(hook.received).toHaveLength(40);
    expect(await one.outbox.stats()).toEqual({ pending: 0, dead: 0, oldest_pending_secs: null });
  });

  test('a delivery in progress when the process stops is sent by the next one', async () => {
    await using db = await open();
    await using hook = await receiver();
    hook.answers.push(() => {});
    const first = dispatching(db);
    const delivery_id = await first.enqueue({ url: hook.url });
    first.dispatcher.start(() => true);
    await hook.came(1);
    await first.dispatcher.stop(0);
    expect(await first.look(delivery_id)).toMatchObject({ status: 'pending', tries: 0 });

    await using next = dispatching(db);
    await next.turn();
    expect(await next.look(delivery_id)).toMatchObject({ status: 'delivered', tries: 1 });
  });

  test('a process whose lease has ended claims nothing, and leaves its deliveries to others', async () => {
    await using db = await open();
    await using hook = await receiver();
    await using story = dispatching(db);
    let isLeaseHeld = true;
    story.dispatcher.start(() => isLeaseHeld);
    hook.answers.push(() => {});
    const delivery_id = await story.enqueue({ url: hook.url });
    story.bus.emit('delivery.queued');
    await hook.came(1);

    isLeaseHeld = false;
    story.dispatcher.leaseEnded();
    await story.dispatcher.drained();
    expect(await story.look(delivery_id)).toMatchObject({ status: 'pending', tries: 0, attempts: [] });
    expect(await story.dispatcher.tick()).toBe(1000);
    expect(hook.received).toHaveLength(1);

    isLeaseHeld = true;
    story.bus.emit('delivery.queued');
    await hook.came(2);
    await story.dispatcher.drained();
    expect(await story.look(delivery_id)).toMatchObject({ status: 'delivered', tries: 1 });
  });

  test('sends as soon as it is notified, and retries failed deliveries when they are due', async () => {
    await using db = await open();
    await using hook = await receiver();
    await using story = dispatching(db, { rules: { backoff: { first_ms: 20, longest_ms: 20 } } });
    story.dispatcher.start(() => true);
    hook.answers.push(502);
    await story.enqueue({ url: hook.url });
    story.bus.emit('delivery.queued');
    await hook.came(2);
    await story.enqueue({ url: hook.url });
    story.bus.emit('delivery.queued');
    await hook.came(3);
  });
});

test('a retry delay is shortened by up to a fifth, so that deliveries that failed together are spread', async () => {
  const { backoffMs } = await import('../../src/core/backoff.ts');
  const rules = { first_ms: 1000, longest_ms: 3_600_000 };
  expect([1, 2, 3, 12, 13, 500].map((failures) => backoffMs(failures, rules, () => 0))).toEqual([
    1000, 2000, 4000, 2_048_000, 3_600_000, 3_600_000,
  ]);
  expect(backoffMs(1, rules, () => 0.999_999)).toBe(800);
});
