import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db, Transaction } from '../../../src/db/db.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import { dueRuns, type Fairness } from '../../../src/storage/queue/claim-fairly.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { explaining } from '../../support/query-plans.ts';
import { newRun, queueStory, request } from '../../support/queued-runs.ts';

const NOBODY: Fairness = { fair_by: 'none' };
const BY_OWNER: Fairness = { fair_by: 'owner' };

/** A queue whose runs have names. */
function namedStory(db: Db, fairness = NOBODY) {
  const queue = runQueue(db, { fairness });
  const names = new Map<string, string>();
  return {
    async add(name: string, priority: number, owner = ''): Promise<void> {
      const run = newRun(randomUUID());
      names.set(run.run_id, name);
      await queue.enqueue({ ...request(run), order: { priority, owner } });
    },
    async claim(limit = 1): Promise<string[]> {
      const runs = await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit });
      return runs.map(({ lease }) => names.get(lease.run_id) ?? 'unknown');
    },
  };
}

describeEachDatabase('run priorities', (open) => {
  test('a run is claimed before older ones of a lower priority, and after older ones of its own', async () => {
    await using db = await open();
    const { add, claim } = namedStory(db);
    await add('low', -5);
    await add('first', 0);
    await add('second', 0);
    await add('urgent', 10);

    expect([await claim(), await claim()]).toEqual([['urgent'], ['first']]);
    await add('more urgent', 100);
    await add('urgent', 10);
    expect(await claim(10)).toEqual(['more urgent', 'urgent', 'second', 'low']);
  });

  test('every eighth claim goes by age, so that a run of a low priority starts eventually', async () => {
    await using db = await open();
    const { add, claim } = namedStory(db);
    await add('low', -100);
    const claimed: string[] = [];
    for (let count = 0; count < 8; count += 1) {
      await add('urgent', 100);
      claimed.push(...(await claim()));
    }
    expect(claimed.filter((name) => name === 'low')).toHaveLength(1);
  });

  test('with fairness by owner, priority applies only among runs of one owner', async () => {
    await using db = await open();
    const { add, claim } = namedStory(db, BY_OWNER);
    for (const name of ['a1', 'a2']) await add(name, 0, 'a');
    for (const name of ['b1', 'b2']) await add(name, 0, 'b');
    await add('a urgent', 100, 'a');

    const claimed = [await claim(), await claim(), await claim()];
    expect(claimed).toEqual([['a urgent'], ['b1'], ['a1']]);
  });

  test('a run of a high priority still waits for earlier runs of its thread', async () => {
    await using db = await open();
    const { add, claimed, queue } = queueStory(db);
    const thread_id = randomUUID();
    const first = await add(thread_id);
    const urgent = await add(thread_id, { order: { priority: 100 } });
    expect(await queue.position(urgent)).toMatchObject({ state: 'blocked', priority: 100, behind: [first] });
    expect(await claimed()).toEqual([first]);
  });

  test('an explanation names the runs that go first by due time, not by creation', async () => {
    await using db = await open();
    const { add, queue } = queueStory(db);
    const thread_id = randomUUID();
    const executing = await add(thread_id);
    const later = await add(thread_id, { order: { delay_ms: 60_000 } });
    const sooner = await add(thread_id);
    // Its time has come while the head still executes.
    await db.run(sql`update run_queue set state = 'blocked' where run_id = ${later}`);
    expect(await queue.position(sooner)).toMatchObject({ behind: [executing] });
    expect(await queue.position(later)).toMatchObject({ behind: [executing, sooner] });
  });

  test('the next runs are found by index among very many runs and owners', async () => {
    await using db = await open();
    const uuid = raw(db.dialect === 'postgres' ? 'gen_random_uuid()' : 'hex(randomblob(16))');
    const text = raw(db.dialect === 'postgres' ? '(n % 20)::text' : 'cast(n % 20 as text)');
    const past = db.dialect === 'postgres' ? sql`now()` : sql`'2026-01-01T00:00:00.000Z'`;
    await db.run(sql`
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20000)
      insert into run_queue (run_id, thread_id, state, not_before, priority, owner)
      select ${uuid}, ${uuid}, 'ready', ${past}, n % 7, 'owner ' || ${text} from numbers`);
    if (db.dialect === 'postgres') await db.run(raw('analyze run_queue'));
    const reader = explaining(db);
    for (const [fairness, claims, index] of [
      [NOBODY, 0, /run_queue_priority/],
      [NOBODY, 3, /run_queue_ready/],
      [BY_OWNER, 0, /run_queue_owner_priority/],
      // PostgreSQL may find the few of an owner sooner among all.
      [BY_OWNER, 3, /run_queue_(owner|ready)\b/],
    ] as const) {
      const turn = { last_owner: '', claims };
      const due = await dueRuns(reader as unknown as Transaction, { fairness, turn }, 10);
      reader.plans.length = 0;
      expect(await reader.all(due)).toHaveLength(10);
      expect(reader.plans.join('\n')).toMatch(index);
      expect(reader.plans.join('\n')).not.toMatch(/SCAN run_queue$|Seq Scan on run_queue/m);
    }
  });
});
