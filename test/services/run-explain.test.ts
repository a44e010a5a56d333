import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemActor } from '../../src/auth/actor.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Db } from '../../src/db/db.ts';
import type { GraphHost, RunPlace } from '../../src/graphs/graph.ts';
import { runExplain } from '../../src/services/runs/run-explain.ts';
import type { QueueOptions } from '../../src/storage/queue/queue.ts';
import { runRepository } from '../../src/storage/runs/runs.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { naming } from '../support/naming.ts';
import { partsOf } from '../support/parts-of.ts';
import { queueStory, successful, WORKER } from '../support/queued-runs.ts';

const actor = systemActor('test');
const EMPTY = { frames: [], writes: [], steps: [] };
const REAP = {
  worker_id: randomUUID(),
  max_attempts: 3,
  backoff_ms: 0,
  log_retention_ms: 1000,
  exhausted: { error: 'WorkerLostError', message: 'lost' },
};

/** The graph hosts there are, and where the run is. */
interface Hosts {
  readonly hosts: readonly GraphHost[];
  readonly place: RunPlace;
  readonly loads?: number;
}

const NO_HOSTS: Hosts = { hosts: [], place: { waitsForOwnHost: false } };

function story(db: Db, { hosts, place, loads = 1 } = NO_HOSTS, options: QueueOptions = {}) {
  const parts = queueStory(db, options);
  const { explain } = runExplain({
    runs: runRepository(db),
    threads: threadRepository(db),
    queue: parts.queue,
    clock: systemClock,
    max_attempts: 3,
    worker_id: WORKER.worker_id,
    graphs: partsOf({ hosts: () => hosts, placeOf: () => place, loads: () => loads }),
    stepsNow: async () => undefined,
  });
  const take = () => parts.queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  return {
    ...{ ...parts, take },
    explain: (run_id: string, by = actor) => explain(by, undefined, run_id),
  };
}

describeEachDatabase('the explanation of a run', (open) => {
  test('names the runs that execute first', async () => {
    await using db = await open();
    const { add, explain } = story(db);
    const thread_id = randomUUID();
    const [first, second, third] = [await add(thread_id), await add(thread_id), await add(thread_id)];
    expect(await explain(second)).toMatchObject({
      status: 'pending',
      behind: [first],
      summary: naming(`Waits behind run ${first} of`),
    });
    expect(await explain(third)).toMatchObject({
      behind: [first, second],
      summary: naming(`Waits behind run ${first} and 1 more`),
    });
  });

  test('names the time when a run is due', async () => {
    await using db = await open();
    const { add, explain } = story(db);
    const later = await explain(await add(randomUUID(), { order: { delay_ms: 3_600_000 } }));
    expect(later).toMatchObject({ behind: [], summary: `Waits until ${later.due_at}.`, worker: null });
    expect(Date.parse(later.due_at as string)).toBeGreaterThan(Date.now() + 3_000_000);
  });

  test('names what a ready run waits for', async () => {
    await using db = await open();
    const { add, explain, queue, take } = story(db);
    const run_id = await add(randomUUID());
    expect((await explain(run_id)).summary).toMatch(/^Ready, but no worker/);
    await queue.heartbeat({ ...WORKER, slots: 1 }, 60_000);
    expect((await explain(run_id)).summary).toMatch(/^Ready; the next worker/);
    await take();
    expect((await explain(await add(randomUUID()))).summary).toMatch(
      /: 1 worker\(s\) execute 1 of 1 runs\.$/,
    );
  });

  test('names the limit of its owner, who has as many runs that execute as allowed', async () => {
    await using db = await open();
    const { add, explain, take, queue } = story(db, NO_HOSTS, {
      fairness: { fair_by: 'owner', max_per_owner: 1 },
    });
    await queue.heartbeat({ ...WORKER, slots: 9 }, 60_000);
    const first = await add(randomUUID(), { order: { owner: 'ada' } });
    expect((await explain(first)).summary).toMatch(/^Ready; the next worker/);
    await take();
    const [second, other] = [
      await add(randomUUID(), { order: { owner: 'ada' } }),
      await add(randomUUID(), { order: { owner: 'ben' } }),
    ];

    expect(await explain(second)).toMatchObject({
      status: 'pending',
      summary: naming('runs.max_per_owner', 'at most 1'),
    });
    expect((await explain(other)).summary).toMatch(/^Ready; the next worker/);
  });

  test('names the worker of a run, its lease, and the reason for a retry', async () => {
    await using db = await open();
    const { add, explain, queue, take } = story(db);
    const run_id = await add(randomUUID());
    await take();
    await queue.reap(REAP);
    expect((await explain(run_id)).summary).toEqual(
      naming('next attempt is 2', 'worker was lost', 'failure 1 of at most 3'),
    );

    await queue.heartbeat(WORKER, 60_000);
    const [run] = await take();
    const executed = await explain(run_id);
    expect(executed).toMatchObject({
      status: 'running',
      attempt: 2,
      max_attempts: 3,
      retry_reason: 'worker lost',
      worker: { worker_id: WORKER.worker_id, host: 'here', pid: 1, lease_until: expect.any(String) },
      due_at: null,
    });
    expect(executed.summary).toEqual(
      naming(
        'Attempt 2',
        'worker was lost',
        'failure 1 of at most 3',
        `${WORKER.worker_id} (process 1 on here)`,
        `lease ends at ${executed.worker?.lease_until}`,
      ),
    );

    await queue.requeue(run!.lease, { charge: false, delay_ms: 0, batch: EMPTY });
    expect(await explain(run_id)).toMatchObject({ attempt: 1, retry_reason: 'server stopped' });
  });

  test('reports a pending cancel, and the outcome of an ended run', async () => {
    await using db = await open();
    const { add, explain, queue, take } = story(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const [run] = await take();
    const error = { error: 'UserInterrupt', message: 'asked for' };
    await queue.cancel(thread_id, [run_id], { action: 'interrupt', error, log_retention_ms: 1000 });
    expect(await explain(run_id)).toMatchObject({
      cancel_action: 'interrupt',
      summary: naming('cancelled (interrupt)', 'not released'),
    });
    await queue.finish(run!.lease, successful());
    expect(await explain(run_id)).toMatchObject({
      attempt: null,
      error,
      ended_at: expect.any(String),
      summary: expect.stringMatching(/^Ended at .* with status interrupted: UserInterrupt: asked for$/),
    });
  });

  test('of a server whose hosts have not loaded the project names what it waits for', async () => {
    await using db = await open();
    const { add, explain } = story(db, { ...NO_HOSTS, loads: 0 });
    const { summary } = await explain(await add(randomUUID()));
    expect(summary).toMatch(/^Ready, but no graph host has loaded the project/);
  });

  const host = (number: number, more: Partial<GraphHost> = {}): GraphHost => ({
    number,
    pid: 100 + number,
    ready: true,
    active: 0,
    n_runs: 0,
    blocked_ms: 0,
    memory_bytes: null,
    restarts: 0,
    blockedBy: undefined,
    ...more,
  });
  const blockedBy = { node: 'summarize', run_id: 'r9' };

  const { place } = NO_HOSTS;
  const executes: RunPlace = { host: host(2), waitsForOwnHost: false };

  test.each<[Hosts, RegExp]>([
    [NO_HOSTS, /which is dead\.$/],
    [
      { hosts: [host(1, { ready: false })], place },
      /Waits for a graph host: none has loaded the project yet\.$/,
    ],
    [{ hosts: [host(1), host(2)], place }, /Waits for a graph host\.$/],
    [
      { hosts: [host(1, { blocked_ms: 3000 }), host(2, { blocked_ms: 12_400, blockedBy })], place },
      /all 2 are computing; the event loop of host 1 has been blocked for 3 s; the event loop of host 2 has been blocked for 12 s in node `summarize` of run r9\.$/,
    ],
    [{ hosts: [host(1)], place: { waitsForOwnHost: true } }, /Waits for a graph host of its own/],
    [{ hosts: [host(1)], place: executes }, /Executes in graph host 2 \(process 102\)\.$/],
  ])('names the graph host that executes a claimed run, or that it waits for: %j', async (hosts, summary) => {
    await using db = await open();
    const { add, take, explain } = story(db, hosts);
    const run_id = await add(randomUUID());
    await take();
    expect((await explain(run_id)).summary).toMatch(summary);
  });

  test('names no runs of others, machines and processes to a caller with access rules', async () => {
    await using db = await open();
    const blocked = [host(1, { blocked_ms: 3000, blockedBy })];
    const { add, take, explain, queue } = story(db, { hosts: blocked, place });
    await queue.heartbeat(WORKER, 60_000);
    const run_id = await add(randomUUID());
    await take();
    const { summary, worker } = await explain(run_id, { ...actor, rules: [() => undefined] });
    expect(summary).toMatch(/^Attempt 1; executed by a worker, .* host 1 has been blocked for 3 s\.$/);
    expect(worker).toBeNull();
  });
});
