import { setTimeout as sleep } from 'node:timers/promises';
import { columns } from '../../src/db/columns.ts';
import type { Transaction } from '../../src/db/db.ts';
import { sql } from '../../src/db/sql.ts';
import { type LockedThread, withThread } from '../../src/storage/runs/thread-lock.ts';
import { FAILURE_RULES } from '../support/queued-runs.ts';
import { type Clients, HOUR_MS } from './clients.ts';
import type { Accident, WorkerCommand } from './commands.ts';
import { during, type Operation, type StorageFailureName, storageFailure } from './scheduler.ts';
import type { TestWorker } from './worker.ts';
import type { World } from './world.ts';

const MOST_WORKERS = 4;
/** A worker that repeats what failed waits for less, ms. */
const RETRIED_MS = 3;
const BACKOFF_MS = 1000;

/** Mostly those after which the same statements are executed again. */
const FAILURES: readonly StorageFailureName[] = ['away', 'busy', 'away', 'full', 'busy', 'away', 'refused'];

const BEFALLS: readonly WorkerCommand['does'][] = ['crash', 'stall', 'shut down'];

type Work = Exclude<WorkerCommand['does'], 'crash'>;

/** What workers do, and what befalls them and the database. */
export class Incidents {
  readonly #world: World;
  readonly #clients: Clients;
  readonly #operator: ReturnType<World['server']> & { process: World['processes'][number] };

  /** Steps until the database crashes, which are counted from the next commit of an attempt on. */
  #crashesIn: number | undefined;
  #isCounting = false;

  constructor(world: World, clients: Clients) {
    this.#world = world;
    this.#clients = clients;
    const process = world.process('operator');
    this.#operator = { process, ...world.server(process) };
  }

  work({ does, worker: index }: WorkerCommand): void {
    const { workers, scheduler } = this.#world;
    // What befalls somebody who executes nothing shows little.
    const busy = BEFALLS.includes(does) ? workers.filter(({ isExecuting }) => isExecuting) : [];
    const some = busy.length > 0 ? busy : workers;
    const worker = some[index % some.length] as TestWorker;
    if (does !== 'crash') this.#does(does, worker);
    else if (index === MOST_WORKERS - 1) this.#clients.crash();
    else scheduler.kill(worker.process);
  }

  /** All that live and are not stopping; what one does for all of them, the first. */
  allWork(does: Work): void {
    const healthy = this.#world.workers.filter(({ isHealthy }) => isHealthy);
    const some = does === 'reap' || does === 'promote' ? healthy.slice(0, 1) : healthy;
    for (const worker of some) this.#does(does, worker);
  }

  /** Nobody keeps the leases of the dead, everybody else's are renewed, and somebody works. */
  recover(): void {
    const { workers } = this.#world;
    this.forgetCrash();
    if (!workers.some(({ isHealthy }) => isHealthy)) this.#world.startWorker();
    for (const worker of workers) {
      if (worker.isHealthy) this.#does('beat', worker);
      else if (worker.process.dead) this.#does('stall', worker);
    }
  }

  async happen({ does, which }: Accident): Promise<void> {
    const { clock, scheduler, workers } = this.#world;
    switch (does) {
      case 'start worker':
        if (workers.filter(({ process }) => !process.dead).length < MOST_WORKERS) this.#world.startWorker();
        return;
      case 'pass time':
        return clock.pass(HOUR_MS);
      case 'fail storage': {
        const gates = scheduler.gates.filter(({ kind }) => kind !== 'work');
        const gate = gates[which % gates.length];
        const name = FAILURES[scheduler.step % FAILURES.length] as StorageFailureName;
        // The answer to a commit may get lost or be late; what has been committed is not refused.
        const may = gate?.kind === 'answer' && name !== 'busy' ? 'away' : name;
        if (gate) scheduler.fail(gate, storageFailure(may));
        await sleep(RETRIED_MS);
        return;
      }
      case 'crash database':
        if (which % 2 === 0) await this.#crashDatabase();
        else this.#crashesIn = which;
        return;
      case 'lose run':
        return this.#damage('loses a run', which, loseRun);
      case 'open log':
        return this.#damage('opens a log', which, openLog);
    }
  }

  /** From now on the database does not crash, also if a command has said so that came to nothing yet. */
  forgetCrash(): void {
    this.#crashesIn = undefined;
    this.#world.losses.isExpected = false;
  }

  /** The database may be about to crash: some steps after an attempt has written what may get lost. */
  async afterStep(by: Operation | undefined): Promise<void> {
    if (this.#crashesIn === undefined) return;
    if (by?.activity.verb === 'write') this.#isCounting = true;
    if (this.#isCounting && --this.#crashesIn <= 0) await this.#crashDatabase();
  }

  async #crashDatabase(): Promise<void> {
    const { engine, scheduler, workers } = this.#world;
    this.#crashesIn = undefined;
    // SQLite is a part of the server: what takes the database takes all.
    if (engine.monitor.dialect === 'sqlite') {
      for (const { process } of workers) scheduler.kill(process);
      this.#clients.crash();
    }
    await this.#world.crashDatabase();
    await sleep(RETRIED_MS);
  }

  #does(does: Work, worker: TestWorker): void {
    // Nobody renews the lease of the dead.
    const process = does === 'stall' ? this.#operator.process : worker.process;
    if (!process.dead)
      this.#world.does(process, `${does} ${worker.process.name}`, () => this.#work(does, worker));
  }

  #work(does: Work, worker: TestWorker): Promise<unknown> {
    const { queue, runs, threads } = worker;
    switch (does) {
      case 'claim':
        return worker.claim();
      case 'check':
        return runs.reconcileLeases();
      case 'beat':
        return worker.beat();
      case 'reap':
        return this.#reap(worker);
      case 'promote':
        return queue.promoteDue().then(() => this.#world.bus.emit('run.ready'));
      case 'expire':
        return threads.expire(10);
      case 'shut down':
        return worker.shutDown();
      case 'stall':
        return this.#stall(worker);
    }
  }

  async #reap({ queue, worker_id }: TestWorker): Promise<void> {
    const taken = await queue.reap({ ...FAILURE_RULES, worker_id, backoff_ms: BACKOFF_MS });
    if (taken > 0) this.#world.bus.emit('run.ready');
  }

  /** Its lease ends, which the others notice; a worker that lives comes back as its heartbeat does. */
  async #stall(worker: TestWorker): Promise<void> {
    await worker.beat(-1, this.#operator.queue);
    for (const other of this.#world.workers)
      if (other !== worker && other.isHealthy) this.#does('reap', other);
    if (!worker.isHealthy) return;
    this.#world.does(worker.process, 'comes back', async () => {
      await worker.beat();
      await worker.runs.reconcileLeases();
    });
  }

  /** Rows become as an older version may have left them. */
  #damage(what: string, which: number, damage: Damage): void {
    const { process, db } = this.#operator;
    const thread_id = this.#clients.thread(which);
    this.#world.does(process, `${what} of ${thread_id.slice(-2)}`, () =>
      during({ verb: 'damage' }, () =>
        withThread(db, 'sync', thread_id, async (tx, thread) => {
          const run_id = await damage(tx, thread);
          if (run_id) this.#world.model.damaged.add(run_id);
        }),
      ),
    );
  }
}

/** The run that it was about. */
type Damage = (tx: Transaction, thread: LockedThread) => Promise<string | undefined>;

async function loseRun(tx: Transaction, { head }: LockedThread): Promise<string | undefined> {
  if (head?.state !== 'ready') return undefined;
  await tx.run(sql`delete from runs where run_id = ${head.run_id}`);
  return head.run_id;
}

async function openLog(tx: Transaction, { thread_id }: LockedThread): Promise<string | undefined> {
  const newest = await tx.get(sql`
    select ${columns('thread_log', 'run_id, base')} from thread_log l where thread_id = ${thread_id} and length is not null
      and base = (select max(base) from thread_log where thread_id = ${thread_id})`);
  if (!newest) return undefined;
  await tx.run(
    sql`update thread_log set length = null where thread_id = ${thread_id} and base = ${newest.base}`,
  );
  return newest.run_id;
}
