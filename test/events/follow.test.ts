import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { immediate } from '../../src/core/event-loop.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { type FollowSources, follow } from '../../src/events/follow.ts';
import { EventWriter } from '../../src/events/writer.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import type { RunQueue } from '../../src/storage/queue/queue.ts';
import { type Frame, type RunEventRepository, runEventRepository } from '../../src/storage/runs/events.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { liveSources } from '../support/live-sources.ts';
import { queueStory, successful, WORKER } from '../support/queued-runs.ts';

/** A run that executes here, and everything that its followers read from. */
async function executing(db: Db, resumable: boolean) {
  const { queue, add } = queueStory(db);
  const run_id = await add(randomUUID());
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  const { lease } = claimed as ClaimedRun;
  const sources: FollowSources = {
    ...liveSources(db),
    log: runEventRepository(db),
    unsharedLog: runEventRepository(db),
    bus: memoryBus(),
  };
  const live = sources.live.open(run_id, 0);
  const errors: unknown[] = [];
  const writes = new WriteBuffer(db, lease, {
    onCommitted: ({ frames }) => writer.committed(frames),
    onError: (error) => errors.push(error),
  });
  const writer = new EventWriter({ ...sources, ...lease, live, writes, resumable });
  return { queue, run_id, lease, sources, live, writes, writer, errors };
}

/** Ends the run as an attempt does. */
async function end({ queue, lease, writes, writer, live }: Awaited<ReturnType<typeof executing>>) {
  const batch = await writes.drain();
  await queue.finish(lease, successful({ batch }));
  writer.committed(batch.frames);
  writer.publishEnd('__end__', '{}');
  live[Symbol.dispose]();
}

/** What needs no turn of the event loop has happened. */
async function promisesSettled(): Promise<void> {
  for (let i = 0; i < 100; i++) await undefined;
}

/** A log, and how often it is read. */
function countedLog(log: RunEventRepository) {
  const counted = {
    reads: 0,
    log: {
      ...log,
      readAfter: (...asked: Parameters<RunEventRepository['readAfter']>) => {
        counted.reads++;
        return log.readAfter(...asked);
      },
    },
  };
  return counted;
}

async function read(
  { sources, run_id }: { sources: FollowSources; run_id: string },
  after = 0,
): Promise<Frame[]> {
  return Array.fromAsync(follow(sources, run_id, after, AbortSignal.timeout(50_000)));
}

const numbers = (frames: Frame[]) => frames.map((frame) => frame.seq);
const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, i) => i + from);

describeEachDatabase('following a run', (open) => {
  test.for([true, false])(
    'delivers every frame once, in order, to the end (resumable: %s)',
    async (resumable) => {
      await using db = await open();
      const run = await executing(db, resumable);
      const before = read(run);
      for (let n = 1; n <= 500; n++) run.writer.write('custom', { n });
      const during = read(run, 250);
      await end(run);
      const after = read(run, 499);
      expect(numbers(await before)).toEqual(upTo(500));
      expect(numbers(await during)).toEqual(upTo(500, 251));
      expect(numbers(await after)).toEqual([500]);
      expect(run.errors).toEqual([]);
    },
  );

  test('delivers the first frame before a starting graph yields the event loop', async () => {
    await using db = await open();
    const run = await executing(db, false);
    // It follows before this process executes the run.
    const { live } = liveSources(db);
    const looked = Promise.withResolvers<void>();
    let looks = 0;
    const poll: FollowSources['poll'] = {
      wait: (...asked) => {
        looks++;
        looked.resolve();
        return run.sources.poll.wait(...asked);
      },
    };
    let first: Frame | undefined;
    // In a turn of its own, as a request: PGlite answers within one turn, which may have lasted since an earlier test.
    await immediate();
    const frames = follow({ ...run.sources, live, poll }, run.run_id, 0, AbortSignal.timeout(50_000));
    const reading = frames.next().then(({ value }) => {
      first = value ?? undefined;
    });
    // SQLite answers within the turn.
    if (db.dialect === 'sqlite') await promisesSettled();
    else await looked.promise;
    expect(looks).toBe(1);
    await immediate();
    const writer = new EventWriter({
      ...run,
      ...run.sources,
      ...run.lease,
      live: live.open(run.run_id, 0),
      resumable: false,
    });
    writer.write('custom', 1);
    await promisesSettled();
    expect(first).toMatchObject({ seq: 1 });
    await reading;
    await frames.return();
  });

  test('reads events that are too large for memory from the log', async () => {
    await using db = await open();
    const run = await executing(db, true);
    const text = 'x'.repeat(100_000);
    for (let n = 1; n <= 40; n++) run.writer.write('custom', { n, text });
    const slow = read(run);
    await end(run);
    expect(numbers(await slow)).toEqual(upTo(40));
  });

  test('delivers a frame of a resumable run only after it is stored', async () => {
    await using db = await open();
    const run = await executing(db, true);
    const frames = follow(run.sources, run.run_id, 0, AbortSignal.timeout(50_000));
    run.writer.write('custom', 1);
    const first = await frames.next();
    expect(first.value).toMatchObject({ seq: 1 });
    expect(await run.sources.log.lastSeq(run.run_id)).toBe(1);
    await frames.return();
    await end(run);
  });

  test('reads the end from memory if it wakes up late', async () => {
    await using db = await open();
    const run = await executing(db, false);
    const counted = countedLog(run.sources.log);
    const frames = follow(
      { ...run.sources, log: counted.log, unsharedLog: counted.log },
      run.run_id,
      0,
      AbortSignal.timeout(50_000),
    );
    run.writer.write('custom', 1);
    expect((await frames.next()).value).toMatchObject({ seq: 1 });
    run.writer.write('custom', 2);
    await end(run);
    expect(numbers(await Array.fromAsync(frames))).toEqual([2]);
    expect(counted.reads).toBe(0);
  });

  test.for([4, 2, 0])(
    'delivers a later attempt in this process from its first frame, without duplicates, if the log has %i of 4 frames',
    async (kept) => {
      await using db = await open();
      const run = await executing(db, false);
      const frames = follow(run.sources, run.run_id, 0, AbortSignal.timeout(50_000));
      for (let n = 1; n <= 4; n++) run.writer.write('custom', n);
      const delivered = [1, 2, 3, 4].map((seq) => ({ seq, event: 'custom', data: String(seq) }));
      for (const frame of delivered) expect((await frames.next()).value).toEqual(frame);
      await run.writes.commit();
      await db.run(sql`delete from run_events where run_id = ${run.run_id} and seq > ${kept}`);
      run.live[Symbol.dispose]();

      using next = run.sources.live.open(run.run_id, kept);
      const again = upTo(kept + 5, kept + 1).map((seq) => ({ seq, event: 'custom', data: `"again ${seq}"` }));
      for (const frame of again) next.push(frame);
      for (const frame of again) expect((await frames.next()).value).toEqual(frame);
      await frames.return();
    },
  );

  test('reads the log once for each event in another process', async () => {
    await using db = await open();
    const run = await executing(db, true);
    const counted = countedLog(run.sources.log);
    const elsewhere = { ...run.sources, ...liveSources(db), log: counted.log, unsharedLog: counted.log };
    const frames = follow(elsewhere, run.run_id, 0, AbortSignal.timeout(50_000));
    for (let n = 1; n <= 5; n++) {
      const next = frames.next();
      await expect.poll(() => counted.reads).toBe(n);
      run.writer.write('custom', n);
      expect((await next).value).toMatchObject({ seq: n });
    }
    await frames.return();
    await end(run);
  });

  test('reads a log larger than a page without waiting between pages', async () => {
    await using db = await open();
    const run = await executing(db, true);
    const text = 'x'.repeat(100_000);
    for (let n = 1; n <= 10; n++) run.writer.write('custom', { n, text });
    await end(run);
    const poll = { wait: () => Promise.reject(new Error('there is more to read')) };
    const elsewhere = { ...run.sources, ...liveSources(db), poll };
    expect(numbers(await read({ ...run, sources: elsewhere }))).toEqual(upTo(10));
  });

  test('ends when the run is deleted', async () => {
    await using db = await open();
    const { queue, add } = queueStory(db);
    const thread_id = randomUUID();
    const run_id = await add(thread_id);
    const sources = {
      ...liveSources(db),
      log: runEventRepository(db),
      unsharedLog: runEventRepository(db),
      bus: memoryBus(),
    };
    const reading = read({ sources, run_id });
    await queue.deleteRun(thread_id, run_id);
    expect(await reading).toEqual([]);
  });

  test('delivers every frame without notifications', async () => {
    await using db = await open();
    const run = await executing(db, true);
    const deaf = { ...run.sources, ...liveSources(db), bus: memoryBus() };
    const reading = read({ sources: deaf, run_id: run.run_id });
    for (let n = 1; n <= 20; n++) run.writer.write('custom', { n });
    await end(run);
    expect(numbers(await reading)).toEqual(upTo(20));
  });

  test('delivers nothing that the writer produced after it lost its lease', async () => {
    await using db = await open();
    const run = await executing(db, true);
    await takeAway(run.queue);
    run.writer.write('custom', 1);
    await expect.poll(() => run.errors.length).toBe(1);
    expect(await run.sources.log.lastSeq(run.run_id)).toBe(0);
  });
});

function takeAway(queue: RunQueue): Promise<number> {
  const exhausted = { error: '', message: '' };
  return queue.reap({
    worker_id: randomUUID(),
    max_attempts: 3,
    backoff_ms: 0,
    log_retention_ms: 0,
    exhausted,
  });
}
