import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { columns } from '../../../src/db/columns.ts';
import type { Db } from '../../../src/db/db.ts';
import { sql } from '../../../src/db/sql.ts';
import { isInShare, placementBy, type RevisionRule } from '../../../src/extensions/deployments/canary.ts';
import type { Fairness } from '../../../src/storage/queue/claim-fairly.ts';
import type { ExecutorScope } from '../../../src/storage/queue/placement.ts';
import { runQueue } from '../../../src/storage/queue/queue.ts';
import { describeEachDatabase } from '../../support/databases.ts';
import { KWARGS, newRun, request } from '../../support/queued-runs.ts';

const [CANARY, ACTIVE] = [randomUUID(), randomUUID()];
const BOTH = new Set(['agent']);
const active = { revision_id: ACTIVE, graph_ids: BOTH };
const HALF = { active, canary: { revision_id: CANARY, graph_ids: BOTH, percent: 50 } };

function threadThat(isIn: boolean, percent = 50): string {
  for (;;) {
    const thread_id = randomUUID();
    if (isInShare(thread_id, percent) === isIn) return thread_id;
  }
}

/** Two workers that share a queue: that of the canary, and that of the active revision. */
function story(db: Db, fairness: Fairness = { fair_by: 'none' }) {
  let rule: RevisionRule | undefined = HALF;
  const queue = runQueue(db, { fairness, placement: () => rule && placementBy(rule) });
  const claim = async (scope: ExecutorScope | undefined) => {
    const seen = await queue.hasReady(scope);
    const runs = await queue.claim({ worker_id: randomUUID(), token: randomUUID(), limit: 10, scope });
    expect(seen).toBe(runs.length > 0);
    return runs.map(({ lease }) => lease.run_id).toSorted();
  };
  return {
    /** The one that executes a run; null: the active one. */
    async revisionOf(id: string): Promise<string | null | undefined> {
      const row = await db.get(
        sql`select ${columns('run_queue', 'executor_id')} from run_queue where run_id = ${id}`,
      );
      return row?.executor_id;
    },
    /** Ids of the runs that another revision than the active one executes. */
    async marks(): Promise<string[]> {
      const rows = await db.all(
        sql`select ${columns('run_queue', 'run_id')} from run_queue where executor_id is not null`,
      );
      return rows.map(({ run_id }) => run_id);
    },
    become(next: RevisionRule | undefined): void {
      rule = next;
    },
    async add(thread_id: string, graph_id = 'agent', owner = ''): Promise<string> {
      const config = { configurable: { graph_id } };
      const run = { ...newRun(thread_id), kwargs: { ...KWARGS, config } };
      const enqueued = await queue.enqueue({ ...request(run), order: { owner } });
      expect(enqueued.outcome).toBe('queued');
      return run.run_id;
    },
    claimCanary: () => claim({ only: CANARY }),
    claimActive: () => claim({ except: [CANARY] }),
    claim,
    waitedFor: () => queue.executorsWaitedFor(),
    claimAll: () => claim(undefined),
  };
}

test('a canary gets about its percentage of threads, and a larger share contains the threads of a smaller one', () => {
  const ids = Array.from({ length: 5000 }, (_, n) => `thread-${n}`);
  const ten = ids.filter((id) => isInShare(id, 10));
  expect(ten.length / ids.length).toBeCloseTo(0.1, 1);
  expect(ten.every((id) => isInShare(id, 25))).toBe(true);
});

describeEachDatabase('canaries', (open) => {
  for (const fair_by of ['none', 'owner'] as const) {
    test(`have their own runs claimed by their own workers, in a queue that is fair by ${fair_by}`, async () => {
      await using db = await open();
      const { add, claimCanary, claimActive } = story(db, { fair_by });
      const inside = await Promise.all(['a', 'b'].map((owner) => add(threadThat(true), 'agent', owner)));
      const outside = await Promise.all(['a', 'c'].map((owner) => add(threadThat(false), 'agent', owner)));

      expect(await claimActive()).toEqual(outside.toSorted());
      expect(await claimCanary()).toEqual(inside.toSorted());
    });
  }

  test('keep a thread with a run on the revision that it started with', async () => {
    await using db = await open();
    const { add, become, marks } = story(db);
    become(undefined);
    const old = threadThat(true);
    await add(old);
    become(HALF);
    const begun = threadThat(true);
    const first = await add(begun);
    await add(old);
    become({ active, canary: { ...HALF.canary, percent: 0 } });
    const second = await add(begun);
    expect((await marks()).toSorted()).toEqual([first, second].toSorted());

    // Another canary takes only what is new.
    become({ active, canary: { revision_id: randomUUID(), graph_ids: BOTH, percent: 100 } });
    await add(begun);
    expect(await marks()).toHaveLength(2);
  });

  test('that ended leave their runs to the active revision', async () => {
    await using db = await open();
    const { add, become, claimActive, claimAll } = story(db);
    const left = await add(threadThat(true));
    expect(await claimActive()).toEqual([]);
    become(undefined);
    expect(await claimAll()).toEqual([left]);
  });

  test('do not get runs of graphs that only the other revision has', async () => {
    await using db = await open();
    const { add, become, claimCanary, claimActive } = story(db);
    become({
      active: { ...active, graph_ids: new Set(['agent', 'old']) },
      canary: { ...HALF.canary, graph_ids: new Set(['agent', 'new']) },
    });
    const added = await add(threadThat(false), 'new');
    const removed = await add(threadThat(true), 'old');
    expect(await claimCanary()).toEqual([added]);
    expect(await claimActive()).toEqual([removed]);
  });
});

/** Threads stay with these revisions, the last of which serves what is new. */
function pinnedTo(...ids: readonly string[]) {
  const all = ids.map((revision_id) => ({ revision_id, graph_ids: BOTH }));
  const newest = all.at(-1) ?? active;
  return { active: newest, pinned: new Map(all.map((each) => [each.revision_id, each])) };
}

describeEachDatabase('threads that are pinned to their revision', (open) => {
  const [one, two, three, four] = ['1', '2', '3', '4'].map((n) => randomUUID().replace(/.$/, n)) as [
    string,
    string,
    string,
    string,
  ];

  test('are executed by the revision of their first run, and by the newest once that one is not kept', async () => {
    await using db = await open();
    const { add, become, revisionOf } = story(db);
    const executor = async (thread_id: string) => revisionOf(await add(thread_id));
    const thread = randomUUID();
    become(pinnedTo(one));
    expect(await executor(thread)).toBe(one);
    become(pinnedTo(one, two));
    expect(await executor(thread)).toBe(one);
    expect(await executor(randomUUID())).toBe(two);
    // From now on it belongs to the third.
    become(pinnedTo(two, three));
    expect(await executor(thread)).toBe(three);
    become(pinnedTo(two, three, four));
    expect(await executor(thread)).toBe(three);
    // A rollback has the build of the third, whose runs it claims.
    const { active: newest, pinned } = pinnedTo(two, three, four);
    become({ active: newest, pinned: new Map([...pinned, [three, newest]]) });
    expect(await executor(thread)).toBe(three);
    // Threads follow the newest again.
    become(undefined);
    expect(await executor(thread)).toBeNull();
  });

  test('wait for the worker of that revision, which the server detects', async () => {
    await using db = await open();
    const { add, become, claim, waitedFor } = story(db);
    const thread = randomUUID();
    become(pinnedTo(one));
    const first = await add(thread);
    expect(await claim({ except: [two] })).toEqual([first]);
    expect(await waitedFor()).toEqual([]);
    become(pinnedTo(one, two));
    await db.run(sql`delete from run_queue where run_id = ${first}`);
    const second = await add(thread);
    const other = await add(randomUUID());
    expect((await waitedFor()).toSorted()).toEqual([one, two].toSorted());
    expect(await claim({ except: [one] })).toEqual([other]);
    expect(await claim({ only: one })).toEqual([second]);
  });

  test('keep runs queued before a switch, and runs that a killed server had started', async () => {
    await using db = await open();
    const { add, become, claim } = story(db);
    become(pinnedTo(one));
    const before = await add(randomUUID());
    become(pinnedTo(one, two));
    expect(await claim({ except: [one] })).toEqual([]);
    expect(await claim({ only: one })).toEqual([before]);

    // A server that is killed leaves it to whoever claims it next.
    await db.run(sql`update run_queue set state = 'ready' where run_id = ${before}`);
    expect(await claim({ except: [one] })).toEqual([]);

    // Nobody waits for a revision that is not kept any more.
    become(pinnedTo(two, three));
    expect(await claim({ except: [two] })).toEqual([before]);
  });
});
