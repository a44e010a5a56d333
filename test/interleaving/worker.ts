import type { Clock } from '../../src/core/clock.ts';
import { LeaseLost } from '../../src/core/errors.ts';
import type { Logger } from '../../src/core/logger.ts';
import { nullable, text } from '../../src/db/columns.ts';
import type { Db, Reader } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import type { EventBus } from '../../src/events/bus.ts';
import type { GraphRuntime } from '../../src/graphs/graph.ts';
import { checkpointRepository } from '../../src/storage/checkpoints/checkpoints.ts';
import type { ClaimedRun } from '../../src/storage/queue/claim.ts';
import type { RunQueue } from '../../src/storage/queue/queue.ts';
import type { Frame, RunOutcome } from '../../src/storage/runs/events.ts';
import type { Lease } from '../../src/storage/runs/lease.ts';
import { WriteBuffer } from '../../src/storage/runs/write-buffer.ts';
import type { ThreadRepository } from '../../src/storage/threads/threads.ts';
import { type Attempt, type AttemptContext, StopReason } from '../../src/workers/attempt.ts';
import { AttemptLog, DEFAULT_OUTPUT_RULES } from '../../src/workers/attempt-log.ts';
import { finalizeRun } from '../../src/workers/finalize-run.ts';
import { RunWorker } from '../../src/workers/runs.ts';
import { FAILURE_RULES } from '../support/queued-runs.ts';
import type { Plan } from './commands.ts';
import { checkpointOf, type Names } from './rows.ts';
import {
  during,
  type Process,
  STORAGE_FAILURE_NAMES,
  type StorageFailureName,
  storageFailure,
} from './scheduler.ts';

/** Until a script says otherwise. */
const LEASE_MS = 1e12;

/** Nodes of a graph take longer than statements: so many steps of others may come in between. */
const SLOW = 5;

/** The graph fails because storage does, which it reaches by its store and its checkpoints. */
function isStorageEnd(end: Plan['end']): end is StorageFailureName {
  return (STORAGE_FAILURE_NAMES as string[]).includes(end);
}

/** What a plan asks for. */
export class PlannedFailure extends Error {
  override readonly name = 'PlannedFailure';
}

export interface WorkerDeps {
  readonly process: Process;
  readonly worker_id: string;
  readonly db: Db;
  readonly queue: RunQueue;
  readonly threads: ThreadRepository;
  readonly clock: Clock;
  readonly bus: EventBus;
  readonly names: Names;
  readonly logger: Logger;
  /** Of the next attempt of a run. */
  readonly planOf: (run_id: string) => Plan;
  /** A place where others may come in between although nothing is asked of the database. */
  readonly pause: (what: string) => Promise<void>;
  /** Somebody was shown the frames, with their numbers. */
  readonly shown: (run_id: string, frames: readonly Frame[]) => void;
  /** The run has ended, and these were the last frames of its log. */
  readonly ended: (run_id: string, frames: readonly Frame[], ending: RunOutcome) => void;
  /** The mechanism that is switched off may make it forget something. */
  readonly writes: (writes: WriteBuffer) => WriteBuffer;
}

/** A server's own worker, with a graph that does as it is told: everything else is the code of the server. */
export class TestWorker {
  readonly process: Process;
  readonly worker_id: string;
  readonly queue: RunQueue;
  readonly threads: ThreadRepository;
  readonly runs: RunWorker;
  /** It claims nothing any more. */
  isStopping = false;
  readonly #deps: WorkerDeps;
  readonly #stops = new Map<AbortController, string>();
  #isClaiming = false;

  constructor(deps: WorkerDeps) {
    const { process, worker_id, queue, threads, logger, names } = deps;
    this.#deps = deps;
    this.process = process;
    this.worker_id = worker_id;
    this.queue = queue;
    this.threads = threads;
    this.runs = new RunWorker({
      queue: { ...queue, claim: claimWithinLimit(queue) },
      bus: deps.bus,
      ids: { uuid4: () => names.next('f'), uuid7: () => names.next('f'), secret: () => '' },
      logger,
      worker_id,
      concurrency: 3,
      failure: FAILURE_RULES,
      isLeaseHeld: () => true,
      attempts: this.#concludes(),
      attempt: (_context, claimed, stop) => this.#attempt(claimed, stop),
    });
  }

  get isHealthy(): boolean {
    return !this.process.dead && !this.isStopping;
  }

  /** A negative time is what passes when a lease is not renewed: somebody else writes that. */
  beat(lease_ms = LEASE_MS, { heartbeat } = this.queue): Promise<void> {
    return heartbeat({ worker_id: this.worker_id, host: '', pid: 1, version: '0', slots: 3 }, lease_ms);
  }

  get isExecuting(): boolean {
    return !this.process.dead && this.#stops.size > 0;
  }

  executes(run_id: string): boolean {
    return !this.process.dead && [...this.#stops.values()].includes(run_id);
  }

  /** As its loop does: one claim at a time. */
  async claim(): Promise<void> {
    if (this.#isClaiming || this.isStopping) return;
    this.#isClaiming = true;
    await this.runs.tick().finally(() => {
      this.#isClaiming = false;
    });
  }

  /** As after SIGTERM, with no grace. */
  async shutDown(): Promise<void> {
    this.isStopping = true;
    for (const stop of this.#stops.keys()) stop.abort(new StopReason('shutdown'));
    await this.runs.stop(0);
    await this.queue.deregister(this.worker_id);
    this.process.dead = true;
  }

  async #attempt(claimed: ClaimedRun, stop: AbortController): Promise<void> {
    const { run_id, token, attempt } = claimed.lease;
    const plan = this.#deps.planOf(run_id);
    this.#stops.set(stop, run_id);
    const name = `${this.process.name} executes ${run_id.slice(-2)}#${attempt} (${plan.end})`;
    await during({ name, token, verb: 'write' }, () => this.#execute(claimed, stop, plan)).finally(() => {
      this.#stops.delete(stop);
    });
  }

  async #execute(claimed: ClaimedRun, stop: AbortController, plan: Plan): Promise<void> {
    const { lease, run } = claimed;
    const { kwargs } = run;
    using writes = this.#writes(lease, kwargs.resumable, stop, (frames) => writer.committed(frames));
    const writer = this.#writer(claimed, writes, kwargs.resumable);
    const log = new AttemptLog({
      logger: this.#deps.logger,
      fields: {},
      lease,
      assistant_id: run.assistant_id,
      is_first: lease.attempt === 1,
      writes,
      rules: DEFAULT_OUTPUT_RULES,
    });
    const attempt = {
      claimed,
      kwargs,
      writes,
      writer,
      memory: {},
      log,
      started: this.#deps.clock.now(),
      graph: graphOf(plan),
      failure: undefined,
    };
    try {
      await this.#stream(claimed, stop.signal, plan, attempt as unknown as Attempt);
      if (plan.end === 'error') throw new PlannedFailure('the graph fails');
      if (isStorageEnd(plan.end)) throw storageFailure(plan.end);
    } catch (error) {
      Object.assign(attempt, { failure: error });
    }
    if (plan.end === 'broken') throw new PlannedFailure('the attempt breaks');
    await finalizeRun(this.#concludes(), attempt as unknown as Attempt, stop.signal);
  }

  /** What is added between two gates is taken or committed before the next one: no timer has anything to do. */
  async #stream({ lease, has_checkpoint }: ClaimedRun, signal: AbortSignal, plan: Plan, attempt: Attempt) {
    const { db, names, pause } = this.#deps;
    const { run_id, thread_id } = lease;
    const checkpoints = checkpointRepository(db);
    let parent_id = await newestCheckpoint(db, thread_id);
    const put = async (source: 'input' | 'loop') => {
      const checkpoint_id = names.checkpoint();
      const checkpoint = checkpointOf(thread_id, checkpoint_id, parent_id, run_id, source);
      attempt.writer.write('values', { checkpoint_id });
      await checkpoints.put({ attempt: attempt.writes }, checkpoint, 'async');
      parent_id = checkpoint_id;
    };
    for (let node = 0; node < SLOW; node++) await pause('node');
    signal.throwIfAborted();
    attempt.writer.write('metadata', { run_id });
    if (!has_checkpoint) await put('input');
    for (const commits of plan.commits) {
      await put('loop');
      if (!commits) continue;
      await attempt.writes.commit();
      for (let node = 0; node < SLOW; node++) await pause('node');
      signal.throwIfAborted();
    }
  }

  #writes(
    lease: Lease,
    resumable: boolean,
    stop: AbortController,
    onCommitted: (frames: readonly Frame[]) => void,
  ): WriteBuffer {
    const { db, writes } = this.#deps;
    return writes(
      new WriteBuffer(db, lease, {
        resumable,
        onCommitted: ({ frames }) => onCommitted(frames),
        onError: (error) => stop.abort(error instanceof LeaseLost ? new StopReason('lease lost') : error),
      }),
    );
  }

  /** Numbers frames as `EventWriter` does. */
  #writer({ lease, last_seq }: ClaimedRun, writes: WriteBuffer, resumable: boolean) {
    const { shown, ended } = this.#deps;
    const frames: Frame[] = [];
    let last_committed = last_seq;
    const next = (event: string, data: unknown): Frame => {
      const seq = last_seq + frames.length + 1;
      const frame = { seq, event, data: JSON.stringify([lease.token, data]) };
      frames.push(frame);
      return frame;
    };
    return {
      write(event: string, data: unknown) {
        const frame = next(event, data);
        writes.addFrame(frame, false);
      },
      committed(committed: readonly Frame[]) {
        last_committed = committed.at(-1)?.seq ?? last_committed;
        if (resumable) shown(lease.run_id, committed);
      },
      publishEnd: (_event: string, data: string) => ended(lease.run_id, frames, JSON.parse(data)),
      errorInstead(data: unknown): Frame {
        frames.splice(last_committed - last_seq);
        return next('error', data);
      },
      leaveToLog() {},
    };
  }

  #concludes(): AttemptContext {
    const { queue, bus, clock, logger } = this.#deps;
    const rules = {
      timeout_ms: 0,
      log_retention_ms: FAILURE_RULES.log_retention_ms,
      retry_ms: 0,
      version: '0',
      record: 'all' as const,
    };
    return {
      queue,
      bus,
      clock,
      logger,
      rules,
      worker_id: this.worker_id,
    } satisfies Partial<AttemptContext> as unknown as AttemptContext;
  }
}

export async function newestCheckpoint(reader: Reader, thread_id: string): Promise<string | null> {
  const row = await reader.get(
    sql`select max(checkpoint_id) as ${nullable(text('id'))} from checkpoints where thread_id = ${thread_id}`,
  );
  return row?.id ?? null;
}

/** Its state after the attempt. */
function graphOf({ end }: Plan): GraphRuntime {
  const state = { values: { n: 2 }, next: end === 'waits' ? ['node'] : [], tasks: [] };
  return { state: async () => state } as unknown as GraphRuntime;
}

/** A worker has no place for more runs than it asks for. */
function claimWithinLimit({ claim }: RunQueue): RunQueue['claim'] {
  return async (asked) => {
    const runs = await claim(asked);
    if (runs.length > asked.limit) throw new Error(`asked for ${asked.limit} runs, claimed ${runs.length}`);
    return runs;
  };
}
