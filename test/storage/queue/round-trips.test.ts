import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openPostgres } from '../../../src/db/engines/postgres.ts';
import { migrate } from '../../../src/db/migrate.ts';
import type { ClaimedRun } from '../../../src/storage/queue/claim.ts';
import { threadRepository } from '../../../src/storage/threads/threads.ts';
import { PostgresRelay } from '../../support/postgres-relay.ts';
import { directPostgresSchema, TEST_POSTGRES_URI } from '../../support/postgres-schema.ts';
import { newRun, newThread, queueStory, request, successful, WORKER } from '../../support/queued-runs.ts';

/** A queue on a PostgreSQL server, and how often an action of it waits for the server. */
async function openCounted() {
  await using opened = new AsyncDisposableStack();
  const schema = opened.use(await directPostgresSchema(TEST_POSTGRES_URI as string));
  const relay = opened.use(await PostgresRelay.listen(schema.url));
  const db = opened.use(openPostgres(relay.url));
  await migrate(db);
  const all = opened.move();
  return {
    ...queueStory(db),
    async roundTrips(action: () => Promise<unknown>): Promise<number> {
      const before = relay.round_trips;
      await action();
      return relay.round_trips - before;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

test.runIf(TEST_POSTGRES_URI)(
  'queue operations need one round trip for each decision, for any number of runs',
  async () => {
    await using counted = await openCounted();
    const { db, queue, roundTrips, add } = counted;
    const claim = (limit: number) => queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit });
    const before = randomUUID();
    await add(before);
    const many = Array.from({ length: 20 }, () =>
      request(newRun(randomUUID()), { thread_retention: 'delete' }),
    );
    const own = request(newRun(randomUUID()), { thread_retention: 'delete' });

    expect(await roundTrips(() => queue.heartbeat(WORKER, 20_000))).toBe(1);
    expect(await roundTrips(() => queue.hasReady())).toBe(1);
    const thread = newThread(randomUUID());
    expect(await roundTrips(() => threadRepository(db).insert(thread))).toBe(2);
    expect(await roundTrips(() => add(before))).toBe(3);
    expect(await roundTrips(() => add(randomUUID()))).toBe(4);
    expect(await roundTrips(() => queue.enqueue(own))).toBe(2);
    expect(await roundTrips(() => queue.enqueueAll(many))).toBe(2);
    let claimed: ClaimedRun[] = [];
    expect(await roundTrips(async () => (claimed = await claim(30)))).toBe(3);
    expect(claimed).toHaveLength(23);
    expect(await roundTrips(() => claim(30))).toBe(2);
    const { lease } = claimed[0] as ClaimedRun;
    expect(await roundTrips(() => queue.finish(lease, successful()))).toBe(2);
  },
);
