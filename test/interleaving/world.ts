import { LeaseLost, WritesLost } from '../../src/core/errors.ts';
import { memoryBus } from '../../src/events/bus.ts';
import type { QueueProblem } from '../../src/storage/queue/context.ts';
import { runQueue } from '../../src/storage/queue/queue.ts';
import type { Frame, RunOutcome } from '../../src/storage/runs/events.ts';
import { threadRepository } from '../../src/storage/threads/threads.ts';
import { StopReason } from '../../src/workers/attempt.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import type { Plan } from './commands.ts';
import type { Engine } from './engines.ts';
import { gatedDb } from './gated-db.ts';
import { Losses } from './losses.ts';
import type { Mechanism } from './mechanisms.ts';
import { Model } from './model.ts';
import { Names } from './rows.ts';
import {
  activity,
  during,
  isMadeFailure,
  LineCut,
  type Operation,
  type Process,
  Scheduler,
  TestClock,
} from './scheduler.ts';
import { eventsOf, snapshotOf } from './snapshot.ts';
import { PlannedFailure, TestWorker } from './worker.ts';

/** What happened, over all interleavings. */
export interface Stats {
  steps: number;
  commits: number;
  deadlocks: number;
  played: number;
  failed: boolean;
}

const PLANNED = [LineCut, PlannedFailure, StopReason, LeaseLost];
const HEALTHY: Plan = { commits: [], end: 'success' };
const POISON: Plan = { commits: [], end: 'broken' };

/** One interleaving's processes and what is known of them; the database is used by the next one too. */
export class World {
  readonly engine: Engine;
  readonly scheduler: Scheduler;
  readonly model = new Model();
  readonly names = new Names();
  readonly losses: Losses;
  readonly clock = new TestClock();
  /** Between the processes: who is told of something hears of it, unless he is dead. */
  readonly bus = memoryBus();
  readonly workers: TestWorker[] = [];
  readonly processes: Process[] = [];
  readonly plans = new Map<string, { next: Plan[]; poison: boolean }>();
  /** What is wrong. */
  readonly wrong: string[] = [];
  /** The database has crashed. */
  hasCrashed = false;
  readonly #without: Mechanism | undefined;
  readonly #stats: Stats;
  /** Has committed since the last look. */
  #changed: Operation | undefined;
  readonly #shown: { run_id: string; frames: readonly Frame[] }[] = [];

  constructor(engine: Engine, without: Mechanism | undefined, stats: Stats) {
    this.engine = engine;
    this.#without = without;
    this.#stats = stats;
    this.scheduler = new Scheduler(engine, this.clock);
    this.losses = new Losses(engine.monitor);
    this.bus.on('run.ready', () => this.#wake());
    this.bus.on('schedule.changed', () => this.#wake());
    this.bus.on('run.cancelled', (run_id) => {
      for (const worker of this.workers) {
        if (worker.executes(run_id))
          this.does(worker.process, 'is told to check', () => worker.runs.reconcileLeases());
      }
    });
  }

  process(name: string): Process {
    const process = { name, dead: false };
    this.processes.push(process);
    return process;
  }

  /** The database as a process sees it, and the verbs over it. */
  server(process: Process) {
    const { scheduler, clock, losses } = this;
    const { monitor } = this.engine;
    const committed = (operation: Operation) => {
      this.#changed = operation;
      if (operation.tries > 1) this.#deadlock(operation);
    };
    const db = gatedDb({ scheduler, monitor, clock, losses, without: this.#without, committed }, process);
    const report = (problem: QueueProblem) => this.#hear(problem);
    const queue = named(runQueue(db, { report }));
    return {
      db,
      queue: { ...queue, ...this.#without?.queue?.(queue) },
      threads: named(threadRepository(db)),
    };
  }

  startWorker(): TestWorker {
    const process = this.process(`w${this.workers.length + 1}`);
    const { db, queue, threads } = this.server(process);
    const worker = new TestWorker({
      process,
      worker_id: this.names.next('d'),
      db,
      queue,
      threads,
      clock: this.clock,
      bus: this.bus,
      names: this.names,
      logger: recordingLogger('debug', ({ message, fields }) => this.judge(message, fields['error'])),
      planOf: (run_id) => this.#planOf(run_id),
      pause: (what) =>
        this.scheduler.operate(process, (operation) => this.scheduler.pass(operation, 'work', what)),
      shown: (run_id, frames) => this.#shown.push({ run_id, frames }),
      ended: (run_id, frames, ending) => this.#ended(run_id, frames, ending),
      writes: this.#without?.writes ?? ((writes) => writes),
    });
    this.workers.push(worker);
    this.does(process, 'starts', () => worker.beat());
    return worker;
  }

  /** Begins something in a process; it goes on as the scheduler lets it. */
  does(process: Process, what: string, act: () => Promise<unknown>): void {
    const name = `${process.name} ${what}`;
    activity.run({ name }, act).catch((error: unknown) => this.judge(name, error));
  }

  /** Failures that were planned are none. */
  judge(where: string, error: unknown): void {
    if (error === undefined || isMadeFailure(error) || PLANNED.some((kind) => error instanceof kind)) return;
    // In the log a failure of the graph is a copy that anybody may read.
    if (error instanceof Error && error.name === 'PlannedFailure') return;
    if (error instanceof WritesLost && this.hasCrashed) return;
    this.wrong.push(`${where}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** Looks at what the last step has changed; who did it. */
  async look(): Promise<Operation | undefined> {
    const by = this.#changed;
    if (!by) return undefined;
    this.#changed = undefined;
    this.#stats.commits += 1;
    const at = { step: this.scheduler.step, ms: this.clock.now() };
    this.wrong.push(...this.model.observe(await snapshotOf(this.engine.monitor), by, at));
    return by;
  }

  /** The database crashes: transactions are gone, and commits that were not promised too. */
  async crashDatabase(): Promise<void> {
    this.hasCrashed = true;
    await this.scheduler.cutAll(new LineCut('the database crashed'));
    await this.look();
    if (await this.losses.restore()) this.model.restore(await snapshotOf(this.engine.monitor));
  }

  /** What clients were shown under a number is what the log has there, and the end of a run has lost nothing. */
  async checkFrames(): Promise<void> {
    const logs = await eventsOf(this.engine.monitor);
    for (const { run_id, frames } of this.#shown) {
      const log = logs.get(run_id);
      // Of a run that was rolled back nothing is kept but its end.
      if (!log || log.at(-1)?.includes('"rollback"')) continue;
      const lost = frames.find(({ seq, data }) => log[seq - 1] !== data);
      if (lost)
        this.wrong.push(
          `run ${run_id}: frame ${lost.seq} was shown as ${lost.data} and is ${log[lost.seq - 1]}`,
        );
    }
  }

  #ended(run_id: string, frames: readonly Frame[], { status }: RunOutcome): void {
    // What was cancelled may end on what a crash has left of it.
    if (status === 'rollback' || (status === 'interrupted' && this.hasCrashed)) return;
    this.#shown.push({ run_id, frames });
  }

  /** One of those that could claim: the others would find nothing. */
  #wake(): void {
    const healthy = this.workers.filter(({ isHealthy }) => isHealthy);
    const worker = healthy[this.scheduler.step % healthy.length];
    if (worker) this.does(worker.process, 'wakes', () => worker.claim());
  }

  #planOf(run_id: string): Plan {
    const plans = this.plans.get(run_id);
    return plans?.next.shift() ?? (plans?.poison ? POISON : HEALTHY);
  }

  #hear({ what, run_id, error }: QueueProblem): void {
    if (error !== undefined) this.judge(what, error);
    else if (!this.model.damaged.has(run_id ?? '')) this.wrong.push(`${what}: ${run_id}`);
  }

  #deadlock(operation: Operation): void {
    this.#stats.deadlocks += 1;
    this.wrong.push(`deadlock: ${operation} began ${operation.tries} times`);
  }
}

type Verbs = Record<string, (...args: never[]) => unknown>;

/** The same verbs, of which the scheduler knows the names. */
function named<T extends object>(verbs: T): T {
  const wrapped = Object.entries(verbs as Verbs).map(([verb, act]) => [
    verb,
    (...args: never[]) => during({ verb }, () => act(...args)),
  ]);
  return Object.fromEntries(wrapped);
}
