import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { EventBus } from '../../src/events/bus.ts';
import { followThread, type ThreadFollowSources } from '../../src/events/follow-thread.ts';
import { LiveRuns } from '../../src/events/writer.ts';
import { insertFrames } from '../../src/storage/runs/events.ts';
import { logEnds } from '../../src/storage/runs/log-positions.ts';
import { setThreadState } from '../../src/storage/threads/state.ts';
import { describeEachDatabase } from '../support/databases.ts';
import { executing, type FollowedThread, followedThread, textOf } from '../support/followed-threads.ts';
import { successful } from '../support/queued-runs.ts';
import { seededRandom } from '../support/seeded-random.ts';

/** Resolves to the number of entries that it adds to the log for good. */
type Step = () => Promise<number>;
/** Share of the notifications that arrive. Unless all do, the follower polls. */
type Arriving = 0 | 0.5 | 1;

const SEEDS = 30;
const NO_WAIT = AbortSignal.abort();

/** What the life of a thread logs, by number. */
const LOGGED = [
  ...['1:a', '2:b', '3:c', '4:end', '5:state_update', '6:d', '7:end'],
  ...['13:g', '14:error', '15:h', '16:end', '17:i', '18:end'],
];
/** Nobody needs to see it. */
const DELETED = ['8:e', '9:f', '11:j', '12:end'];

/** The life of a thread; every attempt is in a process of its own choice. */
function lifeOf(there: FollowedThread, anywhere: () => FollowedThread, resumable: () => boolean): Step[] {
  const { db, queue, thread_id, sources } = there;
  let attempt: Awaited<ReturnType<typeof executing>>;
  const adding = (count: number, act: () => unknown) => async () => {
    await act();
    return count;
  };
  const add = adding(0, () => there.add(thread_id));
  const begin = adding(0, async () => {
    attempt = await executing(anywhere(), resumable());
  });
  const log = (text: string, count = 1) => adding(count, () => attempt.log(text));
  const release = adding(0, () => attempt.release());
  const end = adding(1, () => attempt.end());
  const endOfDeleted = adding(0, () => attempt.end());
  const abandon = adding(0, () => attempt.abandon());
  const remove = adding(0, () => queue.deleteRun(thread_id, attempt.lease.run_id));
  const event = { event_id: randomUUID(), event: 'state_update', data: '{}', retention_ms: 60_000 };
  const changeState = adding(1, async () => {
    const state = { values: {}, status: 'idle' as const, interrupts: {}, event };
    await setThreadState(db, thread_id, state, '2026-11-20T12:00:00.000Z');
    sources.bus.updated(thread_id);
  });
  // As after a failover of the database.
  const loseOneAndLog = adding(0, async () => {
    const frame = { seq: 3, event: 'custom', data: '"h"' };
    await db.transaction('async', (tx) => insertFrames(tx, attempt.lease.run_id, [frame]));
    sources.bus.updated(thread_id);
  });
  const endWithGap = adding(3, async () => {
    await queue.finish(attempt.lease, successful());
    sources.bus.updated(thread_id);
  });
  return [
    ...[add, begin, log('a'), log('b'), release, begin, log('c'), end, changeState],
    ...[add, begin, log('d'), end],
    ...[add, begin, log('e', 0), log('f', 0), remove, abandon],
    ...[add, begin, log('j', 0), endOfDeleted, remove],
    ...[add, begin, log('g'), abandon, loseOneAndLog, endWithGap],
    ...[add, begin, log('i'), end],
  ];
}

/** Another process reads while the life of the thread goes on: before a read, during it, after it, and in a wait. */
class Interleaving {
  readonly #there: FollowedThread;
  readonly #steps: Step[];
  readonly #random: () => number;
  /** Likelihood that several steps happen at once. */
  readonly #haste: number;
  readonly #polls: boolean;
  readonly #sources: ThreadFollowSources;
  readonly #seen: string[] = [];
  #logged = 0;
  #polled_at = -1;

  constructor(there: FollowedThread, arriving: Arriving, seed: number) {
    this.#random = seededRandom(seed);
    this.#haste = this.#random();
    this.#polls = arriving < 1;
    const { log, threadLog, bus } = there.sources;
    this.#sources = {
      live: new LiveRuns(),
      log: { ...log, readAfter: this.#during(log.readAfter) },
      threadLog: { ...threadLog, entryAfter: this.#during(threadLog.entryAfter) },
      bus: this.#lossy(bus, arriving),
      poll: { wait: this.#wait },
    };
    this.#there = there;
    const here = { ...there, sources: { ...this.#sources, bus } };
    const anywhere = () => (this.#random() < 0.3 ? here : there);
    this.#steps = lifeOf(there, anywhere, () => this.#random() < 0.7);
  }

  async seen(): Promise<readonly string[]> {
    const { signal } = new AbortController();
    for await (const entry of followThread(this.#sources, this.#there.thread_id, 0, signal)) {
      this.#seen.push(`${entry.seq}:${textOf(entry)}`);
      if (this.#seen.at(-1) === LOGGED.at(-1)) break;
      await this.#goOn(0);
    }
    return this.#seen;
  }

  /** At least so many of the next steps. */
  async #goOn(least: number): Promise<void> {
    const count = this.#random() < this.#haste ? 1 + Math.floor(this.#random() * 6) : least;
    for (const step of this.#steps.splice(0, count)) this.#logged += await step();
  }

  #during<Args extends readonly unknown[], Result>(read: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      await this.#goOn(0);
      const result = await read(...args);
      await this.#goOn(0);
      return result;
    };
  }

  #lossy(bus: EventBus, arriving: Arriving): EventBus {
    const onUpdated: EventBus['onUpdated'] = (id, listener) =>
      bus.onUpdated(id, () => {
        if (this.#random() < arriving) listener();
      });
    return { ...bus, onUpdated };
  }

  readonly #wait: ThreadFollowSources['poll']['wait'] = async ({ id, seq }, changed) => {
    while (!(await changed.wait(0, NO_WAIT))) {
      const [end] = this.#polls ? await logEnds(this.#there.db).ofThreads([id]) : [];
      if (end && end.last > seq) {
        // What is deleted, or behind a gap, wakes the follower again and again.
        if (this.#polled_at === seq) await this.#goOn(1);
        this.#polled_at = seq;
        return true;
      }
      const seen = this.#seen.filter((entry) => LOGGED.includes(entry)).length;
      if (seen < this.#logged) throw new Error(`the follower waits in vain after ${seq}`);
      await this.#goOn(1);
    }
    return true;
  };
}

describeEachDatabase('a follower of a thread', (open) => {
  test.for<Arriving>([1, 0.5, 0])(
    'gets every event once and in order for any interleaving of reads and writes (share of notifications: %s)',
    async (arriving) => {
      await using db = await open();
      for (let seed = 1; seed <= SEEDS; seed++) {
        const seen = await new Interleaving(followedThread(db), arriving, seed).seen();
        const deleted = seen.filter((entry) => DELETED.includes(entry));
        expect([seed, ...seen.filter((entry) => !deleted.includes(entry))]).toEqual([seed, ...LOGGED]);
        expect(seen.map(numberOf)).toEqual(
          [...new Set(seen.map(numberOf))].sort((one, other) => one - other),
        );
      }
    },
  );
});

function numberOf(entry: string): number {
  return Number.parseInt(entry, 10);
}
