import { timestamp } from '../../src/core/clock.ts';
import { sql } from '../../src/db/sql.ts';
import { Clients, HOUR_MS } from './clients.ts';
import { type Command, type CreateRun, GO_ON, type Script } from './commands.ts';
import type { Engine } from './engines.ts';
import { Incidents } from './incidents.ts';
import { leftovers } from './leftovers.ts';
import { emptyAll } from './losses.ts';
import type { Mechanism } from './mechanisms.ts';
import { type Gate, LineCut } from './scheduler.ts';
import { type Stats, World } from './world.ts';

export interface Setting {
  readonly engine: Engine;
  /** A mechanism of the queue that is switched off, to see that something is found then. */
  readonly without?: Mechanism | undefined;
  readonly stats: Stats;
}

export class Violation extends Error {
  readonly trace: readonly string[];

  constructor(wrong: readonly string[], trace: readonly string[]) {
    super([...new Set(wrong)].join('\n'));
    this.name = 'Violation';
    this.trace = trace;
  }
}

/** What brings the queue to its end. */
const DRAIN = ['check', 'reap', 'promote', 'claim'] as const;
/** Jumps of time within which the queue must come to an end. */
const ROUNDS = 40;

const ONE_MORE: Omit<CreateRun, 'thread'> = {
  does: 'create',
  strategy: 'enqueue',
  by: 'client',
  delayed: false,
  webhook: false,
  resumable: false,
  keeps: false,
  told: true,
  plans: [],
  poison: false,
};

/** Plays one script on an empty database. Throws a `Violation`, with all steps up to it. */
export async function play({ engine, without, stats }: Setting, script: Script): Promise<void> {
  const world = new World(engine, without, stats);
  const interleaving = new Interleaving(world, script);
  try {
    await interleaving.begin();
    await interleaving.run();
    await interleaving.drain();
    await interleaving.end();
  } finally {
    stats.steps += world.scheduler.step;
    for (const process of world.processes) world.scheduler.kill(process);
    await world.scheduler.cutAll(new LineCut('over'));
    await emptyAll(engine.monitor);
  }
}

class Interleaving {
  readonly #world: World;
  readonly #clients: Clients;
  readonly #incidents: Incidents;
  readonly #choices: number[];
  readonly #commands: Command[];

  constructor(world: World, { commands, choices }: Script) {
    this.#world = world;
    this.#commands = [...commands];
    this.#choices = [...choices];
    this.#clients = new Clients(world);
    this.#incidents = new Incidents(world, this.#clients);
    world.losses.isExpected = commands.some(({ does }) => does === 'crash database');
  }

  async begin(): Promise<void> {
    const { engine, clock } = this.#world;
    const { cron_id } = this.#clients;
    const at = timestamp(clock.now());
    await engine.monitor.run(sql`insert into crons (cron_id, assistant_id, schedule, next_run_date, enabled, metadata,
      user_id, created_at, updated_at, payload)
      values (${cron_id}, ${cron_id}, '* * * * *', ${at}, 1, '{}', '', ${at}, ${at}, '{}')`);
    this.#world.startWorker();
    this.#world.startWorker();
  }

  /** Until all commands are given and nobody has anything left to do. */
  async run(): Promise<void> {
    const { scheduler, wrong } = this.#world;
    for (;;) {
      await scheduler.settled();
      await this.#incidents.afterStep(await this.#world.look());
      if (wrong.length > 0) throw new Violation(wrong, scheduler.trace);
      const next = this.#choose(scheduler.enabled());
      if (next === 'nobody' && !scheduler.isCalling) return;
      if (next === 'nobody') await scheduler.progress();
      else if ('does' in next) await this.#issue(next);
      else scheduler.open(next);
    }
  }

  #choose(enabled: readonly Gate[]): Gate | Command | 'nobody' {
    const choice = this.#choices.shift() ?? 0;
    // Of all choices the next command is half as likely as each gate: runs need time to come to something.
    const index = Math.floor(((choice - GO_ON) % (2 * enabled.length + 1)) / 2);
    const gate = choice < GO_ON ? this.#world.scheduler.continued(enabled) : enabled[index];
    return gate ?? this.#commands.shift() ?? enabled[0] ?? 'nobody';
  }

  async #issue(command: Command): Promise<void> {
    this.#world.scheduler.note(`— ${JSON.stringify(command)}`);
    if (command.does === 'create') this.#clients.create(command);
    else if ('worker' in command) this.#incidents.work(command);
    else if ('thread' in command) this.#clients.change(command);
    else await this.#incidents.happen(command);
  }

  /** No more commands: whatever waits must come to its end. */
  async drain(): Promise<void> {
    const { model, clock, scheduler } = this.#world;
    for (let round = 0; round < ROUNDS; round++) {
      if (model.now.queue.length === 0) return;
      scheduler.note(`— drain, round ${round}`);
      if (round === 0) this.#incidents.recover();
      else clock.pass(HOUR_MS);
      await this.run();
      for (const does of DRAIN) {
        this.#incidents.allWork(does);
        await this.run();
      }
    }
    throw new Violation([`the queue does not empty: ${JSON.stringify(model.now.queue)}`], scheduler.trace);
  }

  /** Threads are usable, and nothing is left over. */
  async end(): Promise<void> {
    const { model, wrong, scheduler } = this.#world;
    wrong.push(...leftovers(this.#world, this.#clients.acknowledged));
    await this.#world.checkFrames();
    if (wrong.length > 0) throw new Violation(wrong, scheduler.trace);
    this.#incidents.forgetCrash();
    const threads = new Set(model.now.threads.map(({ thread_id }) => thread_id));
    const more = this.#clients.threads.flatMap((thread_id, thread) =>
      threads.has(thread_id) ? this.#clients.create({ ...ONE_MORE, thread }) : [],
    );
    await this.run();
    await this.drain();
    const ended = new Map(model.now.runs.map((run) => [run.run_id, run.status]));
    for (const run_id of more) {
      if (ended.get(run_id) !== 'success') wrong.push(`one more run ${run_id} is ${ended.get(run_id)}`);
    }
    if (wrong.length > 0) throw new Violation(wrong, scheduler.trace);
  }
}
