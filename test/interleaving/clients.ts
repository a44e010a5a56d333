import { timestamp } from '../../src/core/clock.ts';
import { columns } from '../../src/db/columns.ts';
import { sql } from '../../src/db/sql.ts';
import { isFinal } from '../../src/services/runs/transitions.ts';
import { checkpointRepository } from '../../src/storage/checkpoints/checkpoints.ts';
import type { NewRun } from '../../src/storage/queue/enqueue.ts';
import type { FireResult, TriggerResult } from '../../src/storage/queue/fire-cron.ts';
import { effectOnOthers } from '../../src/storage/queue/multitask.ts';
import type { Ttl } from '../../src/storage/threads/row.ts';
import { FAILURE_RULES, newThread } from '../support/queued-runs.ts';
import type { CreateRun, ThreadCommand } from './commands.ts';
import { checkpointOf, markersOf, runOf } from './rows.ts';
import { newestCheckpoint } from './worker.ts';
import type { World } from './world.ts';

export const HOUR_MS = 3_600_000;
const { log_retention_ms } = FAILURE_RULES;

/** Threads that clients share, and what becomes of them. */
const SHARED: readonly Ttl[] = [
  { strategy: 'keep_latest', ttl: 30 },
  { strategy: 'delete', ttl: 30 },
];

/** What clients of a server do. A new server stands in for one that has crashed. */
export class Clients {
  readonly cron_id: string;
  readonly threads: string[];
  /** Runs that the server has said yes to. */
  readonly acknowledged: string[] = [];
  readonly #world: World;
  #at: ReturnType<World['server']> & { process: World['processes'][number] };

  constructor(world: World) {
    this.#world = world;
    this.#at = this.#server();
    this.cron_id = world.names.next('e');
    this.threads = SHARED.map(() => world.names.next('b'));
  }

  crash(): void {
    this.#world.scheduler.kill(this.#at.process);
    this.#at = this.#server();
  }

  thread(index: number): string {
    return this.threads[index % this.threads.length] as string;
  }

  /** The run's id. */
  create(command: CreateRun): string {
    const { clock, model, names, plans } = this.#world;
    const temporary = command.thread >= this.threads.length;
    if (temporary) this.threads.push(names.next('b'));
    const thread_id = this.thread(command.thread);
    const run_id = names.next('a');
    const cron_id = command.by === 'client' ? undefined : this.cron_id;
    const of = { ...command, run_id, thread_id, temporary, cron_id, now_ms: clock.now() };
    const run = runOf(of);
    const { webhook, strategy, keeps, poison } = command;
    model.runs.set(run_id, { thread_id, webhook, temporary, keeps, cron: cron_id !== undefined });
    plans.set(run_id, { next: [...command.plans], poison });
    const request: NewRun = {
      run,
      markers: markersOf(of),
      agent: { assistant_name: 'interleaved', assistant_version: 1 },
      order: { delay_ms: command.delayed ? HOUR_MS / 2 : 0 },
      thread: { if_missing: newThread(thread_id), ttl: SHARED[this.threads.indexOf(thread_id)] },
      others: effectOnOthers(strategy, run_id, log_retention_ms),
    };
    this.#does(
      `creates ${run_id.slice(-2)} on ${thread_id.slice(-2)} (${strategy}, ${command.by})`,
      async () => {
        const outcome = await this.#submit(command.by, request);
        if (outcome.outcome !== 'queued') return;
        this.acknowledged.push(run_id);
        if (command.told) this.#tell(outcome);
      },
    );
    return run_id;
  }

  #tell({
    ready,
    promoted,
    stopping,
  }: {
    ready?: boolean;
    promoted?: boolean;
    stopping: readonly string[];
  }): void {
    const { bus } = this.#world;
    if (ready || promoted) bus.emit('run.ready');
    for (const run_id of stopping) bus.emit('run.cancelled', run_id);
  }

  async #submit(by: CreateRun['by'], run: NewRun): Promise<FireResult | TriggerResult> {
    const { db, queue } = this.#at;
    const at = run.run.created_at;
    if (by === 'client') return queue.enqueue(run);
    if (by === 'trigger') return queue.triggerCron(this.cron_id, run, at);
    const cron = await db.get(
      sql`select ${columns('crons', 'next_run_date as tick')} from crons where cron_id = ${this.cron_id}`,
    );
    const tick = cron?.tick as string;
    const next = timestamp(Date.parse(tick) + HOUR_MS);
    return queue.fireCron({ cron_id: this.cron_id, tick, next, following: next, at, run });
  }

  change(command: ThreadCommand): void {
    const { does, thread, action } = command;
    const thread_id = this.thread(thread);
    const what = `${does} on ${thread_id.slice(-2)} (${action})`;
    if (does === 'cancel' || does === 'cancel all') {
      this.#does(what, () => this.#cancel(thread_id, command));
    } else if (does === 'delete run') this.#does(what, () => this.#deleteRun(thread_id, command));
    else if (does === 'delete thread') this.#does(what, () => this.#at.threads.delete(thread_id));
    else if (does === 'prune') this.#does(what, () => this.#at.threads.prune(thread_id));
    else this.#does(what, () => this.#setState(thread_id));
  }

  async #cancel(thread_id: string, { does, run, action, told }: ThreadCommand): Promise<void> {
    const { queue } = this.#at;
    const run_ids = await queue.inFlightOn(thread_id);
    if (run_ids.length === 0) return;
    const wanted = does === 'cancel all' ? run_ids : [run_ids[run % run_ids.length] as string];
    const error = { error: 'UserInterrupt', message: 'asked for' };
    const cancelled = await queue.cancel(thread_id, wanted, { action, error, log_retention_ms });
    if (told) this.#tell(cancelled);
  }

  async #deleteRun(thread_id: string, { run: which, action, told }: ThreadCommand): Promise<void> {
    const { queue, threads } = this.#at;
    const { runs } = this.#world.model.now;
    // Of those that have ended first: others may go on from what they left.
    const stored = runs
      .filter((run) => run.thread_id === thread_id)
      .toSorted((a, b) => Number(isFinal(b.status)) - Number(isFinal(a.status)));
    const run_id = stored[which % stored.length]?.run_id;
    if (!run_id) return;
    const keeps = told && action === 'interrupt' ? 'keep checkpoints' : 'remove checkpoints';
    const { promoted } = await queue.deleteRun(thread_id, run_id, keeps);
    this.#tell({ promoted, stopping: told ? [run_id] : [] });
    await threads.refresh(thread_id, { status: 'idle', interrupts: {} });
  }

  /** A change from outside of runs: a checkpoint, and then what the thread shows. */
  async #setState(thread_id: string): Promise<void> {
    const { clock, names } = this.#world;
    const { db, threads } = this.#at;
    const checkpoint_id = names.checkpoint();
    const checkpoint = checkpointOf(
      thread_id,
      checkpoint_id,
      await newestCheckpoint(db, thread_id),
      null,
      'update',
    );
    if (!(await checkpointRepository(db).put({ idle_thread_id: thread_id }, checkpoint, 'sync'))) return;
    const event = {
      event_id: names.next('c'),
      event: 'state_update',
      data: '{}',
      retention_ms: log_retention_ms,
    };
    const state = { values: { n: 3 }, checkpoint_id, status: 'idle', interrupts: {}, event } as const;
    await threads.setState(thread_id, state, timestamp(clock.now()));
  }

  #does(what: string, act: () => Promise<unknown>): void {
    this.#world.does(this.#at.process, what, act);
  }

  #server() {
    const process = this.#world.process('server');
    return { process, ...this.#world.server(process) };
  }
}
