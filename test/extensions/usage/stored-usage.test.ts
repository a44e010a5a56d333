import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { number } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { raw, sql } from '../../../src/db/sql.ts';
import type { UsageKey } from '../../../src/extensions/usage/schemas.ts';
import { usageRepository } from '../../../src/extensions/usage/storage/reports.ts';
import type { PricedStep } from '../../../src/schemas/steps.ts';
import type { ClaimedRun } from '../../../src/storage/queue/claim.ts';
import { emptyBatch, flushBatch } from '../../../src/storage/runs/batch.ts';
import type { WriteBuffer } from '../../../src/storage/runs/write-buffer.ts';
import { describeEachDatabase, describePostgresServer, type OpenDatabase } from '../../support/databases.ts';
import { modelCall } from '../../support/model-call.ts';
import { attemptWrites, successful, WORKER } from '../../support/queued-runs.ts';
import { CHARGING, chargingStory } from './budget-attempt.ts';

const DAY = Date.parse('2026-03-01T23:59:59.999Z');
const ALL = { from: '2000-01-01', to: '2099-12-31', limit: 1000, offset: 0 };
const ALICE = { assistant_id: randomUUID(), user_id: 'alice', key_id: '' };

const call = (at: number, step: Partial<PricedStep> = {}): PricedStep => ({
  ...modelCall(at, 10),
  started_at: DAY,
  ended_at: DAY,
  tokens_cached: 4,
  tokens_out: 5,
  cost: 0.1,
  ...step,
});

/** A run that a worker executes. */
async function begun(
  db: Db,
): Promise<{ claimed: ClaimedRun; writes: WriteBuffer; end: () => Promise<unknown> }> {
  const { queue, add } = chargingStory(db);
  await add(randomUUID());
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  const { lease } = claimed as ClaimedRun;
  const end = () => queue.finish(lease, successful());
  return { claimed: claimed as ClaimedRun, writes: attemptWrites(db, lease), end };
}

async function countOf(db: Db, table: 'usage_entries' | 'usage_days'): Promise<number> {
  const row = await db.get(sql`select count(*) as ${number('n')} from ${raw(table)}`);
  return row?.n ?? 0;
}

/** Stores steps of a run, as a commit of its attempt does. */
function store(
  db: Db,
  { claimed: { lease } }: { claimed: ClaimedRun },
  steps: PricedStep[],
  account = ALICE,
) {
  const cargo = { usage: { account, budget: undefined } };
  return db.transaction('async', (tx) => flushBatch(tx, lease, { ...emptyBatch(), steps, cargo }, CHARGING));
}

describeEachDatabase('usage', (open) => {
  test('is charged once for each call, even if a commit is repeated', async () => {
    await using db = await open();
    const usage = usageRepository(db);
    const run = await begun(db);
    await store(db, run, [call(1), call(2, { kind: 'tool', model: null, cost: null })]);
    await store(db, run, [call(1), call(2, { kind: 'tool', model: null, cost: null }), call(3), call(4)]);
    const sums = { calls: 3, unpriced_calls: 0, tokens_in: 30, tokens_cached: 12, tokens_out: 15 };
    expect(await usage.sum({ ...ALL, by: [] })).toEqual([
      { day: null, assistant: null, user: null, key: null, model: null, ...sums, cost_nanos: 3e8 },
    ]);
  });

  test('of a run whose temporary thread is kept for another run is charged once', async () => {
    await using db = await open();
    const { queue, add } = chargingStory(db);
    const thread_id = randomUUID();
    await add(thread_id);
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    await add(thread_id);
    // One call with a step of its own, and three beyond the limit of steps.
    const batch = {
      ...emptyBatch(),
      steps: [call(1), call(2, { calls: 3 })],
      cargo: { usage: { account: ALICE } },
    };
    await queue.finish((claimed as ClaimedRun).lease, successful({ batch, remove_thread: true }));
    expect(await usageRepository(db).sum({ ...ALL, by: [] })).toMatchObject([{ calls: 4 }]);
  });

  test('of a run without model calls is empty', async () => {
    await using db = await open();
    const run = await begun(db);
    await store(db, run, [call(1, { kind: 'node' }), call(2, { kind: 'tool' })]);
    expect(await countOf(db, 'usage_entries')).toBe(0);
  });

  test('is reported by model and day, with the number of calls without a cost', async () => {
    await using db = await open();
    const run = await begun(db);
    const unknown = { cost: null, tokens_in: null, tokens_cached: null, tokens_out: null };
    const steps = [
      call(1),
      call(2, { model: null, cost: null }),
      call(3, { ended_at: DAY + 1 }),
      call(4, { status: 'error', ...unknown }),
      call(5, { status: 'cancelled', ...unknown }),
    ];
    await store(db, run, steps);
    const rows = await usageRepository(db).sum({ ...ALL, by: ['day', 'model'] });
    expect(rows.map(({ day, model, calls, unpriced_calls }) => [day, model, calls, unpriced_calls])).toEqual([
      ['2026-03-01', '', 1, 1],
      ['2026-03-01', 'small', 3, 2],
      ['2026-03-02', 'small', 1, 0],
    ]);
  });

  test('of ended runs is summed up by day, which does not change reports', async () => {
    await using db = await open();
    const usage = usageRepository(db);
    const runs = [];
    for (let n = 0; n < 7; n++) {
      const run = await begun(db);
      const account = { ...ALICE, user_id: n % 2 === 0 ? 'alice' : 'bob' };
      await store(db, run, [call(1, { cost: 0.1 * n }), call(2, { model: `m${n % 2}` })], account);
      runs.push(run);
    }
    const by = ['assistant', 'user', 'model', 'day'] as const;
    const before = await usage.sum({ ...ALL, by });
    expect(await usage.rollUp(100)).toBe(0);
    for (const run of runs.slice(1)) await run.end();
    while ((await usage.rollUp(5)) > 0) expect(await usage.sum({ ...ALL, by })).toEqual(before);
    expect(await countOf(db, 'usage_entries')).toBe(2);
    expect(await countOf(db, 'usage_days')).toBe(4);
    await store(db, runs[0] as (typeof runs)[0], [call(3)]);
    await (runs[0] as (typeof runs)[0]).end();
    await usage.rollUp(100);
    expect(await countOf(db, 'usage_entries')).toBe(0);
    const calls = (rows: typeof before) => rows.reduce((sum, row) => sum + row.calls, 0);
    expect(calls(await usage.sum({ ...ALL, by }))).toBe(calls(before) + 1);
  });

  test('is reported by API key, which is null for sums of an earlier version', async () => {
    await using db = await open();
    const { sum, rollUp } = usageRepository(db);
    const calls = async (by: UsageKey[], filter: object = {}) =>
      (await sum({ ...ALL, by, ...filter })).map((row) => [...by.map((key) => row[key]), row.calls]);
    const expectSums = async () => {
      expect(await calls(['key'])).toEqual([
        ['', 3],
        ['one', 3],
        ['two', 1],
      ]);
      expect(await calls(['user', 'key'])).toEqual([
        ['alice', '', 3],
        ['alice', 'one', 2],
        ['bob', 'one', 1],
        ['bob', 'two', 1],
      ]);
      expect(await calls([], { key: 'one' })).toEqual([[3]]);
      expect(await calls([], { key: '' })).toEqual([[3]]);
      expect(await calls([], { key: 'three' })).toEqual([[0]]);
      expect(await calls(['key'], { user: 'bob' })).toEqual([
        ['one', 1],
        ['two', 1],
      ]);
      expect(await calls(['user'])).toEqual([
        ['alice', 5],
        ['bob', 2],
      ]);
      expect(await calls([])).toEqual([[7]]);
    };
    const accounts = [
      ['alice', '', 3],
      ['alice', 'one', 2],
      ['bob', 'one', 1],
      ['bob', 'two', 1],
    ] as const;
    const runs = [];
    for (const [user_id, key_id, count] of accounts) {
      const run = await begun(db);
      const steps = Array.from({ length: count }, (_, n) => call(n + 1));
      await store(db, run, steps, { ...ALICE, user_id, key_id });
      runs.push(run);
    }
    await expectSums();
    for (const run of runs) {
      await run.end();
      await rollUp(10);
      await expectSums();
    }
    await db.run(sql`delete from usage_keys where key_id = 'two'`);
    expect(await calls(['key'])).toEqual([
      ['', 4],
      ['one', 3],
    ]);
  });

  test('is found by assistant, user, model and days', async () => {
    await using db = await open();
    const run = await begun(db);
    await store(db, run, [call(1), call(2, { ended_at: DAY + 1 })]);
    const { sum, rollUp } = usageRepository(db);
    for (const _ of [1, 2]) {
      const calls = async (filter: object) => (await sum({ ...ALL, by: [], ...filter }))[0]?.calls;
      expect(await calls({ user: 'alice', model: 'small', assistant_id: ALICE.assistant_id })).toBe(2);
      expect(await calls({ user: 'bob' })).toBe(0);
      expect(await calls({ model: 'large' })).toBe(0);
      expect(await calls({ assistant_id: randomUUID() })).toBe(0);
      expect(await calls({ to: '2026-03-01' })).toBe(1);
      expect(await calls({ from: '2026-03-02' })).toBe(1);
      await run.end();
      await rollUp(10);
    }
  });
});

describePostgresServer('usage', (open: OpenDatabase) => {
  test('is summed up once, even by concurrent processes', async () => {
    await using db = await open();
    const usage = usageRepository(db);
    for (let n = 0; n < 40; n++) {
      const run = await begun(db);
      await store(db, run, [call(1)], { ...ALICE, user_id: `user-${n % 3}` });
      await run.end();
    }
    const rollUpAll = async () => {
      for (let n = 0; n < 20; n++) await usage.rollUp(5);
    };
    await Promise.all([rollUpAll(), rollUpAll(), rollUpAll(), rollUpAll()]);
    expect(await countOf(db, 'usage_entries')).toBe(0);
    expect((await usage.sum({ ...ALL, by: [] }))[0]).toMatchObject({ calls: 40, tokens_in: 400 });
  });
});
