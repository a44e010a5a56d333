import { randomUUID } from 'node:crypto';
import type { Db } from '../../src/db/db.ts';
import { type EventBus, memoryBus } from '../../src/events/bus.ts';
import { followThread, type ThreadFollowSources, type ThreadFrame } from '../../src/events/follow-thread.ts';
import { EventWriter } from '../../src/events/writer.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import { runEventRepository } from '../../src/storage/runs/events.ts';
import { threadLogRepository } from '../../src/storage/runs/thread-log.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { liveSources } from './live-sources.ts';
import { type QueueStory, queueStory, successful, WORKER } from './queued-runs.ts';

/** A thread whose runs execute here, and everything that its followers read from. */
export interface FollowedThread extends QueueStory {
  readonly thread_id: string;
  readonly sources: ThreadFollowSources;
}

export function followedThread(db: Db, bus: EventBus = memoryBus()): FollowedThread {
  const sources = {
    ...liveSources(db),
    log: runEventRepository(db),
    unsharedLog: runEventRepository(db),
    threadLog: threadLogRepository(db),
    bus,
  };
  return { ...queueStory(db), thread_id: randomUUID(), sources };
}

/** The next run of the thread, executing here. */
export async function executing({ db, queue, sources }: FollowedThread, resumable = true) {
  const [claimed] = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit: 1 });
  const { lease, last_seq } = claimed as ClaimedRun;
  const live = sources.live.open(lease.run_id, last_seq, resumable);
  const writes = new WriteBuffer(db, lease, {
    onCommitted: ({ frames }) => writer.committed(frames),
    onError: () => {},
  });
  const writer = new EventWriter({ ...sources, ...lease, live, writes, resumable });
  return {
    lease,
    write(...texts: string[]) {
      for (const text of texts) writer.write('custom', text);
    },
    /** Resolves once it is in the log. */
    async log(...texts: string[]) {
      this.write(...texts);
      await writes.commit();
    },
    /** Its run was deleted, or taken by another process. */
    abandon: () => live[Symbol.dispose](),
    async release() {
      const batch = await writes.drain();
      await queue.requeue(lease, { charge: false, delay_ms: 0, batch });
      live[Symbol.dispose]();
    },
    async end() {
      const batch = await writes.drain();
      await queue.finish(lease, successful({ batch }));
      writer.committed(batch.frames);
      writer.publishEnd('__end__', '{}');
      live[Symbol.dispose]();
    },
  };
}

/** A run of the thread from its claim to its end; its id. */
export async function run(there: FollowedThread, ...texts: string[]): Promise<string> {
  const run_id = await there.add(there.thread_id);
  const attempt = await executing(there);
  attempt.write(...texts);
  await attempt.end();
  return run_id;
}

/** The first `count` entries after a number, as `number:text`; the end of a run has the text `end`. */
export async function read(
  { sources, thread_id }: FollowedThread,
  count: number,
  after = 0,
): Promise<string[]> {
  const entries: string[] = [];
  for await (const entry of followThread(sources, thread_id, after, AbortSignal.timeout(50_000))) {
    entries.push(`${entry.seq}:${textOf(entry)}`);
    if (entries.length === count) break;
  }
  return entries;
}

export function textOf({ frame }: ThreadFrame): string {
  return frame.event === '__end__' ? 'end' : frame.event === 'custom' ? JSON.parse(frame.data) : frame.event;
}
