import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Actor, systemActor } from '../../src/auth/actor.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { webhookService } from '../../src/services/webhooks/webhooks.ts';
import { successful } from '../support/queued-runs.ts';
import { openServices, type TestServices } from '../support/services.ts';
import { policy } from '../support/webhook-policy.ts';

/** Somebody who owns what they make and sees nothing else. */
function owner(identity: string): Actor {
  return {
    ...systemActor('test'),
    user: { identity, permissions: [] },
    rules: [
      (event, value) => {
        if (/:(create|create_run)$/.test(event)) {
          value['metadata'] = { ...(value['metadata'] as object), owner: identity };
        }
        return { metadata: { contains: { owner: identity } } };
      },
    ],
  };
}

const ALICE = owner('alice');
const BOB = owner('bob');
const PAGE = { limit: 10, offset: 0 };

function webhooksOf({ storage, clock }: TestServices) {
  const { outbox } = storage;
  return webhookService({ outbox, webhooks: policy(), bus: memoryBus(), clock, sends_webhooks: true });
}

/** The id of the delivery that the end of a run of Alice made, which deleted its thread. */
async function told(services: TestServices): Promise<string> {
  const { storage, threads, runs } = services;
  const { thread_id } = await threads.create(ALICE, { if_exists: 'raise' });
  const webhook = 'https://receiver.example/hook';
  // What a run's own metadata says is no proof of anything.
  const metadata = { owner: 'bob' };
  const { run_id } = await runs.create(
    ALICE,
    thread_id,
    { assistant_id: 'echo', webhook, metadata },
    'background',
  );
  const [claimed] = await storage.queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 1 });
  await storage.queue.finish(claimed!.lease, successful({ has_webhook: true, remove_thread: true }));
  const [delivery] = await storage.outbox.search({ ...PAGE, run_id });
  return delivery!.delivery_id;
}

test('the delivery of a run belongs to its owner, also if the end of the run deleted its thread', async () => {
  await using services = await openServices();
  const webhooks = webhooksOf(services);
  const delivery_id = await told(services);

  expect((await webhooks.search(ALICE, PAGE)).items).toMatchObject([{ delivery_id }]);
  expect(await webhooks.redeliver(ALICE, delivery_id)).toMatchObject({ delivery_id });

  expect((await webhooks.search(BOB, PAGE)).items).toEqual([]);
  await expect(webhooks.get(BOB, delivery_id)).rejects.toThrow('not found');
  await expect(webhooks.redeliver(BOB, delivery_id)).rejects.toThrow('not found');
});

test('a delivery that another user asks to send again is left as it is', async () => {
  await using services = await openServices();
  const { outbox } = services.storage;
  const claim = () =>
    outbox.claim({
      host: 'receiver.example',
      token: randomUUID(),
      worker_id: randomUUID(),
      limit: 1,
      lease_ms: 60_000,
    });
  const delivery_id = await told(services);
  expect(await claim()).toMatchObject([{ delivery_id }]);
  await expect(webhooksOf(services).redeliver(BOB, delivery_id)).rejects.toThrow('not found');
  expect(await claim()).toEqual([]);
  await webhooksOf(services).redeliver(ALICE, delivery_id);
  expect(await claim()).toMatchObject([{ delivery_id }]);
});

test('a test delivery belongs to its creator and is refused to users who may not create runs', async () => {
  await using services = await openServices();
  const webhooks = webhooksOf(services);
  const given = AbortSignal.abort();
  const { delivery_id } = await webhooks.test(ALICE, { url: 'https://receiver.example/' }, given);
  expect(await webhooks.get(ALICE, delivery_id)).toMatchObject({ kind: 'test' });
  await expect(webhooks.get(BOB, delivery_id)).rejects.toThrow('not found');

  const nobody: Actor = {
    ...BOB,
    rules: [
      (event) => {
        if (event === 'threads:create_run') throw new Error('no runs');
        return undefined;
      },
    ],
  };
  await expect(webhooks.test(nobody, { url: 'https://receiver.example/' }, given)).rejects.toThrow('no runs');
});
