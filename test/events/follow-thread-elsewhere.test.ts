import { expect, test } from 'vitest';
import type { Db } from '../../src/db/db.ts';
import type { EventBus } from '../../src/events/bus.ts';
import { followThread, type ThreadFollowSources } from '../../src/events/follow-thread.ts';
import { sharedLog, sharedThreadLog } from '../../src/events/shared-log.ts';
import { insertFrames, runEventRepository } from '../../src/storage/runs/events.ts';
import { threadLogRepository } from '../../src/storage/runs/thread-log.ts';
import { deleteThread } from '../../src/storage/threads/delete.ts';
import { introduced, Wire } from '../support/bus-wire.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executing, type FollowedThread, followedThread, textOf } from '../support/followed-threads.ts';
import { liveSources } from '../support/live-sources.ts';
import { successful } from '../support/queued-runs.ts';
import { until } from '../support/until.ts';

/** A process that executes nothing and follows the thread, with all statements that its reads take. */
class Elsewhere {
  readonly #there: FollowedThread;
  readonly #sources: ThreadFollowSources;
  readonly #gone = new AbortController();
  #statements = 0;
  #waiting = 0;
  readonly seen: string[] = [];

  constructor(there: FollowedThread, bus: EventBus) {
    this.#there = there;
    const { db, sources } = there;
    const count = () => void this.#statements++;
    const log = sharedLog(runEventRepository(counting(db, count)));
    const threadLog = sharedThreadLog(threadLogRepository(counting(db, count)));
    const poll = { wait: this.#wait };
    this.#sources = { ...sources, ...liveSources(db), log, threadLog, bus, poll };
  }

  /** Only notifications end a wait. */
  readonly #wait: ThreadFollowSources['poll']['wait'] = async (_position, changed, signal) => {
    this.#waiting++;
    await changed.wait(60_000, signal);
    this.#waiting--;
    return true;
  };

  async follow(): Promise<void> {
    const { signal } = this.#gone;
    for await (const entry of followThread(this.#sources, this.#there.thread_id, 0, signal)) {
      this.seen.push(`${entry.seq}:${textOf(entry)}`);
    }
  }

  /** Statements of all followers until they have seen what happens meanwhile, and wait again. */
  async statementsOf(event: () => Promise<unknown>, followers = 1): Promise<number> {
    await until('everybody waits', () => this.#waiting === followers);
    const [statements, seen] = [this.#statements, this.seen.length];
    await event();
    await until('everybody has seen it', () => this.seen.length >= seen + followers);
    await until('everybody waits again', () => this.#waiting === followers);
    return this.#statements - statements;
  }

  stop(): void {
    this.#gone.abort();
  }
}

/** One process executes the runs of the thread, another one follows it. */
async function twoProcesses(db: Db) {
  const wire = new Wire();
  const [executes, follows] = [wire.connect('executes'), wire.connect('follows', 0)];
  await introduced(wire, 2);
  const there = followedThread(db, executes);
  return { there, elsewhere: new Elsewhere(there, follows) };
}

function counting(db: Db, count: () => void): Db {
  return {
    ...db,
    all: (query) => {
      count();
      return db.all(query);
    },
    get: (query) => {
      count();
      return db.get(query);
    },
  };
}

describeEachDatabase('following a thread whose runs execute in another process', (open) => {
  test('executes one statement for each event', async () => {
    await using db = await open();
    const { there, elsewhere } = await twoProcesses(db);
    await there.add(there.thread_id);
    const attempt = await executing(there);
    const following = elsewhere.follow();
    for (const text of ['a', 'b', 'c']) {
      expect(await elsewhere.statementsOf(() => attempt.log(text))).toBe(1);
    }
    elsewhere.stop();
    await following;
    expect(elsewhere.seen).toEqual(['1:a', '2:b', '3:c']);
    await attempt.end();
  });

  test.for([1, 50])(
    'executes one more statement at the end of a run and at the start of the next (followers: %s)',
    async (followers) => {
      await using db = await open();
      const { there, elsewhere } = await twoProcesses(db);
      const following = Array.from({ length: followers }, () => elsewhere.follow());
      let attempt: Awaited<ReturnType<typeof executing>>;
      const begin = async () => {
        await there.add(there.thread_id);
        attempt = await executing(there);
        await attempt.log('begin');
      };
      for (let run = 1; run <= 2; run++) {
        expect(await elsewhere.statementsOf(begin, followers)).toBe(2);
        expect(await elsewhere.statementsOf(() => attempt.log('go on'), followers)).toBe(1);
        expect(await elsewhere.statementsOf(() => attempt.end(), followers)).toBe(2);
      }
      elsewhere.stop();
      await Promise.all(following);
      const each = ['1:begin', '2:go on', '3:end', '4:begin', '5:go on', '6:end'];
      expect(elsewhere.seen).toEqual(each.flatMap((entry) => Array(followers).fill(entry)));
    },
  );

  test('reports a gap in a run that ended after it was looked up', async () => {
    await using db = await open();
    const { there, elsewhere } = await twoProcesses(db);
    await there.add(there.thread_id);
    const { lease } = await executing(there);
    const following = elsewhere.follow();
    await elsewhere.statementsOf(async () => {
      const frames = [1, 3].map((seq) => ({ seq, event: 'custom', data: `"${seq}"` }));
      await db.transaction('async', (tx) => insertFrames(tx, lease.run_id, frames));
      await there.queue.finish(lease, successful());
      there.sources.bus.updated(there.thread_id);
    });
    elsewhere.stop();
    await following;
    expect(elsewhere.seen).toEqual(['1:1', '2:error', '3:3', '4:end']);
  });

  test('continues with a new thread of the same id, with events numbered after the last one read', async () => {
    await using db = await open();
    const { there, elsewhere } = await twoProcesses(db);
    await there.add(there.thread_id);
    const deleted = await executing(there);
    const following = elsewhere.follow();
    await elsewhere.statementsOf(() => deleted.log('a', 'b'));
    await deleteThread(db, there.thread_id);
    deleted.abandon();
    await there.add(there.thread_id);
    const attempt = await executing(there);
    await attempt.log('x', 'y');
    await elsewhere.statementsOf(() => attempt.log('c'));
    elsewhere.stop();
    await following;
    expect(elsewhere.seen).toEqual(['1:a', '2:b', '3:c']);
    await attempt.end();
  });
});

describeEachDatabase('a run that is not resumable', (open) => {
  test('is announced as changed to other processes when its events are logged, before its end', async () => {
    await using db = await open();
    const wire = new Wire();
    const [executes, follows] = [wire.connect('executes'), wire.connect('follows', 0)];
    await introduced(wire, 2);
    const there = followedThread(db, executes);
    const run_id = await there.add(there.thread_id);
    const attempt = await executing(there, false);
    const heard: string[] = [];
    using _run = follows.onUpdated(run_id, () => void heard.push('run'));
    using _thread = follows.onUpdated(there.thread_id, () => void heard.push('thread'));
    await attempt.log('a');
    await until('the other process hears of the thread', () => heard.includes('thread'));
    expect(heard).toContain('run');
    await attempt.end();
  });
});
