import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { timestamp } from '../../src/core/clock.ts';
import { number } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { type DialectSql, raw, sql } from '../../src/db/sql.ts';
import type { Run } from '../../src/schemas/runs.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import type { RunEnd } from '../../src/storage/queue/finish.ts';
import { emptyBatch } from '../../src/storage/runs/batch.ts';
import { deleteUnlisted } from '../../src/storage/runs/removed-runs.ts';
import { type RunQuery, runSearchRepository } from '../../src/storage/runs/search.ts';
import type { Keyset } from '../../src/storage/search/keyset-page.ts';
import { describeEachDatabase, describeEachStorage } from '../support/databases.ts';
import { modelCall } from '../support/model-call.ts';
import { FAILURE_RULES, newRun, queueStory, request, successful, WORKER } from '../support/queued-runs.ts';

const CANCEL = {
  action: 'interrupt',
  error: { error: 'Cancelled', message: 'by ana' },
  log_retention_ms: 60_000,
} as const;
const BOOM = { error: 'BoomError', message: 'boom' };

/** A database whose runs are of temporary threads. */
function temporaryRuns(db: Db) {
  const { queue } = queueStory(db);
  const { search } = runSearchRepository(db);
  const listed = async (query: Partial<RunQuery> = {}) =>
    (await search({ limit: 100, with_removed: true, ...query })).found;
  async function add(run: Partial<Run> = {}) {
    const added = { ...newRun(randomUUID()), ...run };
    await queue.enqueue(request(added, { thread_retention: 'delete' }));
    return added;
  }
  async function claim() {
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    return (claimed as ClaimedRun).lease;
  }
  async function end(run: Partial<Run> = {}, how: Partial<RunEnd> = {}) {
    const added = await add(run);
    await queue.finish(await claim(), successful({ remove_thread: true, ...how }));
    return added;
  }
  return { queue, search, listed, add, claim, end };
}

const NUMBERED_ID: DialectSql = {
  sqlite: raw(`printf('01900000-0000-7000-8000-%012x', n)`),
  postgres: raw(`('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`),
};

async function rows(db: Db): Promise<number | undefined> {
  return (await db.get(sql`select count(*) as ${number('n')} from removed_runs`))?.n;
}

describeEachStorage('a run that is removed at its end', (open) => {
  test('is listed if asked for, by what a list shows and nothing that it was given', async () => {
    await using db = await open();
    const { end, listed } = temporaryRuns(db);
    const run = await end({ metadata: { secret: 'x' } }, { status: 'error', error: BOOM });

    expect(await listed({ with_removed: false })).toEqual([]);
    expect(await listed({ select: ['kwargs'] })).toEqual([
      {
        run_id: run.run_id,
        thread_id: run.thread_id,
        assistant_id: run.assistant_id,
        multitask_strategy: 'enqueue',
        status: 'error',
        error: BOOM,
        cancel_reason: null,
        metadata: {},
        created_at: run.created_at,
        started_at: expect.any(String),
        ended_at: successful().at,
        updated_at: successful().at,
        waiting: false,
        removed: true,
      },
    ]);
  });

  test('keeps why it was cancelled', async () => {
    await using db = await open();
    const { add, claim, queue, listed } = temporaryRuns(db);
    const { run_id, thread_id } = await add();
    const lease = await claim();
    await queue.cancel(thread_id, [run_id], { ...CANCEL, reason: 'enough' });
    await queue.finish(lease, successful({ remove_thread: true }));

    expect(await listed()).toMatchObject([
      { status: 'interrupted', error: CANCEL.error, cancel_reason: 'enough', removed: true },
    ]);
  });
});

describeEachDatabase('a run that is removed at its end', (open) => {
  test('keeps the sums of its calls of models', async () => {
    await using db = await open();
    const { end } = temporaryRuns(db);
    const steps = [
      { ...modelCall(1, 10), cost: 0.5 },
      { ...modelCall(2, 5), cost: null },
      { ...modelCall(3, 7), cost: null, kind: 'tool' as const },
    ];
    await end({}, { batch: { ...emptyBatch(), steps } });
    const row =
      await db.get(sql`select calls as ${number('calls')}, unpriced_calls as ${number('unpriced_calls')},
      tokens_in as ${number('tokens_in')}, cost as ${number('cost')} from removed_runs`);
    expect(row).toEqual({ calls: 2, unpriced_calls: 1, tokens_in: 15, cost: 0.5 });
  });

  test('is listed if it ran out of attempts, and if it was cancelled between two', async () => {
    await using db = await open();
    const { add, claim, queue, listed } = temporaryRuns(db);
    const lost = await add();
    for (let n = 0; n < FAILURE_RULES.max_attempts; n++)
      await queue.requeue(await claim(), {
        charge: true,
        delay_ms: 0,
        batch: emptyBatch(),
        failure: FAILURE_RULES,
      });
    const cancelled = await add();
    await queue.requeue(await claim(), { charge: false, delay_ms: 0, batch: emptyBatch() });
    await queue.cancel(cancelled.thread_id, [cancelled.run_id], CANCEL);

    const found = (await listed()).map(({ run_id, status, removed }) => [run_id, status, removed]);
    expect(found.sort()).toEqual(
      [
        [lost.run_id, 'error', true],
        [cancelled.run_id, 'interrupted', true],
      ].sort(),
    );
  });

  test('leaves nothing if it is rolled back, deleted by a client or never started', async () => {
    await using db = await open();
    const { add, claim, end, queue } = temporaryRuns(db);
    const rolledBack = await add();
    const lease = await claim();
    await queue.cancel(rolledBack.thread_id, [rolledBack.run_id], { ...CANCEL, action: 'rollback' });
    await queue.finish(lease, successful({ remove_thread: true }));
    const deleted = await add();
    await claim();
    await queue.deleteRun(deleted.thread_id, deleted.run_id);
    const waiting = await add();
    await queue.cancel(waiting.thread_id, [waiting.run_id], CANCEL);
    expect(await rows(db)).toBe(0);

    await end();
    expect(await rows(db)).toBe(1);
  });

  test('replaces the one before it that had its id', async () => {
    await using db = await open();
    const { end, listed } = temporaryRuns(db);
    const { run_id } = await end();
    const again = await end({ run_id, thread_id: randomUUID() }, { status: 'error', error: BOOM });
    expect(await listed()).toMatchObject([{ run_id, thread_id: again.thread_id, status: 'error' }]);
  });

  test('is between other runs in the order of creation, page by page', async () => {
    await using db = await open();
    const { end, search, queue } = temporaryRuns(db);
    const runs: Run[] = [];
    for (let n = 0; n < 12; n++) {
      const run = { ...newRun(randomUUID()), created_at: timestamp(Date.UTC(2026, 0, 1, 0, n)) };
      if (n % 3 === 0) await queue.enqueue(request(run));
      else await end(run);
      runs.unshift(run);
    }
    const found: string[] = [];
    let after: Keyset | undefined;
    do {
      const page = await search({ limit: 5, with_removed: true, after });
      found.push(...page.found.map(({ run_id }) => run_id));
      after = page.next;
    } while (after);
    expect(found).toEqual(runs.map(({ run_id }) => run_id));
  });

  test('is found by its own properties, and not by metadata or as waiting', async () => {
    await using db = await open();
    const { end, listed } = temporaryRuns(db);
    const assistant_id = randomUUID();
    const { run_id, thread_id } = await end(
      { assistant_id, metadata: { a: 1 } },
      { status: 'error', error: BOOM },
    );
    await end();
    const yes: Partial<RunQuery>[] = [
      ...[
        { assistant_id },
        { thread_id },
        { statuses: ['error', 'timeout'] as const },
        { error: 'boomerror: B' },
      ],
      {
        statuses: ['error'],
        waiting: false,
        ended_from: successful().at,
        created_to: '2027-01-01T00:00:00Z',
      },
    ];
    for (const query of yes)
      expect([query, (await listed(query)).map((run) => run.run_id)]).toEqual([query, [run_id]]);
    const no: Partial<RunQuery>[] = [
      ...[{ metadata: { a: 1 } }, { thread_metadata: { a: 1 } }, { waiting: true }, { error: 'other' }],
      ...[{ statuses: ['pending'] as const }, { graph_id: 'other' }, { created_to: '2026-01-01T00:00:00Z' }],
    ];
    for (const query of no) expect([query, await listed(query)]).toEqual([query, []]);
  });

  test('is listed for an hour, the newest ten thousand', async () => {
    await using db = await open();
    const { end } = temporaryRuns(db);
    const now = Date.now();
    const at = (ms: number) => ({ at: timestamp(now - ms) });
    await end({ created_at: timestamp(now - 9_000_000) }, at(3_590_000));
    await end({ created_at: timestamp(now - 8_000_000) }, at(3_700_000));
    expect(await deleteUnlisted(db, 10)).toBe(1);
    expect(await rows(db)).toBe(1);

    await db.run(sql`
      insert into removed_runs (run_id, thread_id, assistant_id, status, multitask_strategy, created_at, started_at,
        ended_at, calls, unpriced_calls, tokens_in, tokens_cached, tokens_out, cost)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 10003)
      select ${NUMBERED_ID}, thread_id, assistant_id, status, multitask_strategy, ${timestamp(now)}, started_at, ended_at,
        0, 0, 0, 0, 0, 0
      from removed_runs, numbers`);
    expect(await deleteUnlisted(db, 3)).toBe(1);
  });
});
