import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { memoryBus } from '../../src/events/bus.ts';
import { type FollowSources, follow } from '../../src/events/follow.ts';
import { followThread } from '../../src/events/follow-thread.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import { type Frame, insertFrames, runEventRepository } from '../../src/storage/runs/events.ts';
import { logEnds } from '../../src/storage/runs/log-positions.ts';
import { threadLogRepository } from '../../src/storage/runs/thread-log.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { liveSources } from '../support/live-sources.ts';
import { naming } from '../support/naming.ts';
import { queueStory, successful, WORKER } from '../support/queued-runs.ts';

const frame = (seq: number): Frame => ({ seq, event: 'custom', data: String(seq) });

/** A thread whose runs log the frames with these numbers, whatever is missing between them. */
function story(db: Db) {
  const { queue, add } = queueStory(db);
  const thread_id = randomUUID();
  const sources = {
    ...liveSources(db),
    log: runEventRepository(db),
    unsharedLog: runEventRepository(db),
    threadLog: threadLogRepository(db),
    bus: memoryBus(),
  };

  async function executing() {
    await add(thread_id);
    const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
    const { lease } = claimed as ClaimedRun;
    return {
      run_id: lease.run_id,
      log: (...seqs: number[]) =>
        db.transaction('async', (tx) => insertFrames(tx, lease.run_id, seqs.map(frame))),
      end: () => queue.finish(lease, successful()),
    };
  }

  return {
    sources,
    executing,
    async ended(...seqs: number[]): Promise<string> {
      const run = await executing();
      await run.log(...seqs);
      await run.end();
      return run.run_id;
    },
    async read(run_id: string, after = 0, poll: FollowSources['poll'] = sources.poll): Promise<string[]> {
      const frames = follow({ ...sources, poll }, run_id, after, AbortSignal.timeout(50_000));
      return (await Array.fromAsync(frames)).map((each) => `${each.seq}:${textOf(each)}`);
    },
    /** To the entry with this number. */
    async readThread(end: number, after = 0): Promise<string[]> {
      const texts: string[] = [];
      for await (const entry of followThread(sources, thread_id, after, AbortSignal.timeout(50_000))) {
        texts.push(`${entry.seq}:${textOf(entry.frame)}`);
        if (entry.seq >= end) break;
      }
      return texts;
    },
  };
}

function textOf({ event, data }: Frame): string {
  if (event === 'error') return Object.values(JSON.parse(data)).join(': ');
  return event === '__end__' ? 'end' : data;
}

const lost = (seq: number, ...named: string[]) => naming(`${seq}:EventsLost: `, ...named);

describeEachDatabase('events that a database lost', (open) => {
  test('are reported to followers of the run, who then get the rest of it', async () => {
    await using db = await open();
    const there = story(db);
    const run_id = await there.ended(1, 2, 6, 8);
    expect(await there.read(run_id)).toEqual([
      '1:1',
      '2:2',
      lost(5, '3 to 5', 'run'),
      '6:6',
      lost(7, 'Event 7', 'run'),
      '8:8',
    ]);
    expect(await there.read(run_id, 4)).toEqual([
      lost(5, 'Event 5', 'run'),
      '6:6',
      lost(7, 'Event 7', 'run'),
      '8:8',
    ]);
    expect(await there.read(run_id, 7)).toEqual(['8:8']);
  });

  test('are reported to followers of the thread, with the numbers of the thread', async () => {
    await using db = await open();
    const there = story(db);
    await there.ended(1);
    await there.ended(1, 4);
    await there.ended(1);
    expect(await there.readThread(9)).toEqual([
      '1:1',
      '2:end',
      '3:1',
      lost(5, '4 to 5', 'thread'),
      '6:4',
      '7:end',
      '8:1',
      '9:end',
    ]);
    expect(await there.readThread(6, 4)).toEqual([lost(5, 'Event 5', 'thread'), '6:4']);
  });

  test('count once for each gap that a follower meets', async () => {
    await using db = await open();
    const there = story(db);
    const run_id = await there.ended(1, 2, 6, 8);
    await there.read(run_id);
    await there.readThread(8, 4);
  });

  test('are not reported if an executing run logs them late', async () => {
    await using db = await open();
    const there = story(db);
    const run = await there.executing();
    await run.log(1, 3);
    const asked = Promise.withResolvers<void>();
    const reading = there.read(run.run_id, 0, {
      async wait(...asks) {
        const goesOn = await there.sources.poll.wait(...asks);
        asked.resolve();
        return goesOn;
      },
    });
    const readingThread = there.readThread(4);
    await asked.promise;
    await run.log(2);
    await run.end();
    expect(await reading).toEqual(['1:1', '2:2', '3:3']);
    expect(await readingThread).toEqual(['1:1', '2:2', '3:3', '4:end']);
  });

  test('are not reported for a run that ends while it is checked', async () => {
    await using db = await open();
    const there = story(db);
    const run = await there.executing();
    await run.log(1, 3);
    const ends = logEnds(db);
    const { poll } = liveSources(db, {
      ...ends,
      async ofRuns(run_ids) {
        await run.log(2);
        await run.end();
        return ends.ofRuns(run_ids);
      },
    });
    expect(await there.read(run.run_id, 0, poll)).toEqual(['1:1', '2:2', '3:3']);
  });

  test('end the stream if the log is incomplete or dropped', async () => {
    await using db = await open();
    const there = story(db);
    const run_id = await there.ended(1, 2);
    await db.run(sql`delete from run_events where run_id = ${run_id} and event = '__end__'`);
    expect(await there.read(run_id)).toEqual(['1:1', '2:2']);
    await there.ended(1);
    expect(await there.readThread(5)).toEqual(['1:1', '2:2', '4:1', '5:end']);
    await db.run(sql`delete from run_events where run_id = ${run_id}`);
    expect(await there.read(run_id, 1)).toEqual([]);
    expect(await there.readThread(5)).toEqual(['4:1', '5:end']);
  });
});
