import { randomUUID } from 'node:crypto';
import { columns } from '../../src/db/columns.ts';
import type { Db } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import type { Run, RunKwargs } from '../../src/schemas/runs.ts';
import type { Thread } from '../../src/schemas/threads.ts';
import type { FailurePolicy } from '../../src/storage/queue/end-attempt.ts';
import type { NewRun } from '../../src/storage/queue/enqueue.ts';
import type { RunEnd } from '../../src/storage/queue/finish.ts';
import { type QueueOptions, type RunQueue, runQueue } from '../../src/storage/queue/queue.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import type { RunMarkers } from '../../src/storage/runs/markers.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import { serializeState } from '../../src/storage/threads/values-summary.ts';

const AT = '2026-11-20T12:00:00.000Z';

/** How the tests of the queue speak: a thread, its runs, and who executes them. */
export interface QueueStory {
  readonly db: Db;
  readonly queue: RunQueue;
  /** Enqueues a run on the thread, which is made with the first one; the run's id. */
  add(thread_id: string, options?: Partial<NewRun>): Promise<string>;
  /** The ids of what a worker gets, in order. */
  claimed(limit?: number): Promise<string[]>;
  statusOf(run_id: string): Promise<string | undefined>;
  /** `state` of each run of the thread that is in the queue, by id. */
  states(thread_id: string): Promise<Record<string, string>>;
}

export const WORKER = {
  worker_id: randomUUID(),
  host: 'here',
  pid: 1,
  version: '0',
  slots: 10,
};

/** A run that fails so often in a row ends. */
export const FAILURE_RULES: FailurePolicy = {
  max_attempts: 3,
  log_retention_ms: 60_000,
  exhausted: { error: 'WorkerLostError', message: 'lost' },
};

export function queueStory(db: Db, options?: QueueOptions): QueueStory {
  const queue = runQueue(db, options);
  return {
    db,
    queue,
    async add(thread_id, options = {}) {
      const run = newRun(thread_id);
      await queue.enqueue({ ...request(run), ...options });
      return run.run_id;
    },
    async claimed(limit = 10) {
      const claimed = await queue.claim({ worker_id: WORKER.worker_id, token: randomUUID(), limit });
      return claimed.map(({ lease }) => lease.run_id);
    },
    async statusOf(run_id) {
      const row = await db.get(sql`select ${columns('runs', 'status')} from runs where run_id = ${run_id}`);
      return row?.status;
    },
    async states(thread_id) {
      const rows = await db.all(
        sql`select ${columns('run_queue', 'run_id, state')} from run_queue where thread_id = ${thread_id}`,
      );
      return Object.fromEntries(rows.map(({ run_id, state }) => [run_id, state]));
    },
  };
}

/** What an attempt writes with, for tests in which nobody waits for its news. */
export function attemptWrites(db: Db, lease: Lease): WriteBuffer {
  return new WriteBuffer(db, lease, { onCommitted: () => {}, onError: () => {} });
}

/** Of a run in the background, on a thread that a client made. */
export const MARKERS: RunMarkers = {
  is_event_streaming: false,
  is_of_cron: false,
  thread_retention: 'keep',
};

export const KWARGS: RunKwargs = {
  input: { n: 1 },
  command: null,
  config: { configurable: { graph_id: 'scripted' } },
  context: {},
  stream_mode: ['values'],
  interrupt_before: null,
  interrupt_after: null,
  webhook: null,
  feedback_keys: null,
  temporary: false,
  subgraphs: false,
  resumable: false,
  checkpoint_during: true,
  durability: 'async',
};

export function request(run: Run, markers: Partial<RunMarkers> = {}): NewRun {
  return {
    run,
    markers: { ...MARKERS, ...markers },
    agent: { assistant_name: 'scripted', assistant_version: 1 },
    thread: { if_missing: newThread(run.thread_id) },
    others: 'enqueue',
  };
}

export function newRun(thread_id: string): Run {
  return {
    run_id: randomUUID(),
    thread_id,
    assistant_id: randomUUID(),
    metadata: {},
    status: 'pending',
    kwargs: KWARGS,
    multitask_strategy: 'enqueue',
    created_at: AT,
    updated_at: AT,
    langsmith_session_name: null,
  };
}

export function newThread(thread_id: string): Thread {
  return {
    thread_id,
    created_at: AT,
    updated_at: AT,
    metadata: {},
    status: 'idle',
    config: {},
    values: null,
  };
}

/** The end of a run that succeeded and wrote `{"n":2}`. */
export function successful(end: Partial<RunEnd> = {}): RunEnd {
  return {
    status: 'success',
    error: null,
    thread: { status: 'idle', values: serializeState({ n: 2 }), interrupts: {}, config: {} },
    batch: { frames: [], writes: [], steps: [] },
    at: AT,
    log_retention_ms: 60_000,
    remove_thread: false,
    ...end,
  };
}
