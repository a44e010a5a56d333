import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { number } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import type { ClaimedRun } from '../../../src/storage/queue/claim.ts';
import type { Fairness } from '../../../src/storage/queue/claim-fairly.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import { emptyBatch } from '../../../src/storage/runs/batch.ts';
import { openStorage } from '../../../src/storage/storage.ts';
import { makeDataFolder } from '../../support/data-folder.ts';
import { describeEachDatabase, describePostgresServer } from '../../support/databases.ts';
import { newRun, queueStory, request, successful } from '../../support/queued-runs.ts';
import { repeatedDb } from '../../support/repeated-db.ts';

/** A queue in which runs belong to owners, by the letter that they begin with in the test's story. */
function fairStory(db: Db, fairness: Fairness) {
  const queue = runQueue(db, { fairness });
  const owners = new Map<string, string>();
  return {
    queue,
    async add(owner: string, count = 1): Promise<void> {
      for (let index = 0; index < count; index += 1) {
        const run = newRun(randomUUID());
        owners.set(run.run_id, owner);
        await queue.enqueue({ ...request(run), order: { owner } });
      }
    },
    /** Owners of what a worker gets, in order of the claims. */
    async claim(limit = 1, worker = queue): Promise<{ owners: string[]; runs: ClaimedRun[] }> {
      const runs = await worker.claim({ worker_id: randomUUID(), token: randomUUID(), limit });
      return { runs, owners: runs.map(({ lease }) => owners.get(lease.run_id) ?? 'nobody') };
    },
  };
}

const BY_OWNER: Fairness = { fair_by: 'owner' };

describeEachDatabase('fairness by owner', (open) => {
  test('an owner whose run comes after a thousand runs of another owner is served next', async () => {
    await using db = await open();
    const { add, claim } = fairStory(db, BY_OWNER);
    await add('many', 300);
    expect((await claim()).owners).toEqual(['many']);
    await add('one');
    expect((await claim()).owners).toEqual(['one']);
    expect((await claim()).owners).toEqual(['many']);
  });

  test('owners take turns across claims and within one', async () => {
    await using db = await open();
    const { add, claim } = fairStory(db, BY_OWNER);
    await add('a', 4);
    await add('b', 4);
    await add('c', 1);
    const first = [await claim(), await claim(), await claim(), await claim()];
    expect(first.flatMap(({ owners }) => owners)).toEqual(['a', 'b', 'c', 'a']);
    const { owners } = await claim(3);
    expect(owners.toSorted()).toEqual(['a', 'a', 'b']);
  });

  test('owners take turns even if the transaction of a claim runs twice', async () => {
    await using db = await open();
    const { add, claim } = fairStory(repeatedDb(db), BY_OWNER);
    for (const owner of ['a', 'b', 'c', 'd']) await add(owner, 3);
    const claims = [await claim(), await claim(), await claim(), await claim(), await claim()];
    expect(claims.flatMap(({ owners }) => owners)).toEqual(['a', 'b', 'c', 'd', 'a']);
  });

  test('a free slot is not reserved for owners without runs', async () => {
    await using db = await open();
    const { add, claim } = fairStory(db, BY_OWNER);
    await add('a', 12);
    expect((await claim(10)).owners).toEqual(Array(10).fill('a'));
  });

  test('no owner exceeds its limit of concurrent runs, and its next run starts when one ends', async () => {
    await using db = await open();
    const { queue, add, claim } = fairStory(db, { fair_by: 'owner', max_per_owner: 2 });
    await add('a', 5);
    await add('b', 1);
    const { runs, owners } = await claim(10);
    expect(owners.toSorted()).toEqual(['a', 'a', 'b']);
    expect((await claim(10)).owners).toEqual([]);
    const [ended] = runs.filter((_, index) => owners[index] === 'a');
    await queue.finish((ended as ClaimedRun).lease, successful());
    expect((await claim(10)).owners).toEqual(['a']);
  });

  test('owners below their limit take turns across claims', async () => {
    await using db = await open();
    const { add, claim } = fairStory(db, { fair_by: 'owner', max_per_owner: 5 });
    for (const owner of ['a', 'b', 'c']) await add(owner, 2);
    const claims = [await claim(), await claim(), await claim(), await claim()];
    expect(claims.flatMap(({ owners }) => owners)).toEqual(['a', 'b', 'c', 'a']);
  });

  test('no claim is empty while an owner has runs within its limit', async () => {
    await using db = await open();
    const { add, claim } = fairStory(db, BY_OWNER);
    for (let claims = 0; claims < 16; claims += 1) {
      await add('a');
      expect((await claim()).owners).toEqual(['a']);
    }
  });

  test('owners at their limit do not block others', async () => {
    await using db = await open();
    const { add, claim } = fairStory(db, { fair_by: 'owner', max_per_owner: 1 });
    const busy = Array.from({ length: 20 }, (_, index) => `busy ${index}`);
    for (const owner of busy) await add(owner, 2);
    while ((await claim(10)).owners.length > 0);
    await add('new');
    expect((await claim()).owners).toEqual(['new']);
  });

  test('owners whose runs wait for a retry do not block others', async () => {
    await using db = await open();
    const { queue, add, claim } = fairStory(db, BY_OWNER);
    await add('retried');
    const { runs } = await claim();
    const [{ lease }] = runs as [ClaimedRun];
    await queue.requeue(lease, { charge: true, delay_ms: 60_000, batch: emptyBatch() });
    await add('due', 4);
    for (let claims = 0; claims < 4; claims += 1) expect((await claim()).owners).toEqual(['due']);
  });

  test('runs queued before the setting was enabled are claimed too', async () => {
    await using db = await open();
    const before = queueStory(db);
    await before.add(randomUUID());
    const { add, claim } = fairStory(db, BY_OWNER);
    await add('a', 20);
    const served: string[] = [];
    for (let claims = 0; claims < 8; claims += 1) served.push(...(await claim()).owners);
    expect(served).toContain('nobody');
  });

  test('without fairness, the run that has waited longest is next, and no owner is stored', async () => {
    await using db = await open();
    const { add, claim } = fairStory(db, { fair_by: 'none' });
    await add('a', 3);
    await add('b', 1);
    expect((await claim(4)).owners).toEqual(['a', 'a', 'a', 'b']);
    const row = await db.get(sql`select count(owner) as ${number('n')} from run_queue`);
    expect(row?.n).toBe(0);
  });
});

describePostgresServer('fairness by owner over processes', (open) => {
  test('processes that claim at the same time keep the limit together', async () => {
    await using db = await open();
    const fairness: Fairness = { fair_by: 'owner', max_per_owner: 3 };
    const { add, claim } = fairStory(db, fairness);
    await add('a', 30);
    const processes = Array.from({ length: 6 }, () => runQueue(db, { fairness }));
    const claimed = await Promise.all(processes.map((queue) => claim(10, queue)));
    expect(claimed.flatMap(({ owners }) => owners)).toEqual(['a', 'a', 'a']);
  });
});

test('a server keeps the limit of its configuration', async () => {
  const folder = await makeDataFolder();
  await using storage = await openStorage({
    url: `sqlite:${join(folder, 'data.sqlite')}`,
    synchronous: 'normal',
    fairness: { fair_by: 'none', max_per_owner: 1 },
  });
  for (const owner of ['a', 'a', 'b'])
    await storage.queue.enqueue({ ...request(newRun(randomUUID())), order: { owner } });
  const rules = { worker_id: randomUUID(), token: randomUUID(), limit: 10 };
  expect(await storage.work.queue.claim(rules)).toHaveLength(2);
});
