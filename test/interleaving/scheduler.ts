import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../../src/core/clock.ts';
import {
  InsufficientStorage,
  StorageBusy,
  StorageRefused,
  StorageUnavailable,
} from '../../src/core/errors.ts';
import type { Db } from '../../src/db/db.ts';

/** What shares memory and dies together: a server, a worker. */
export interface Process {
  readonly name: string;
  dead: boolean;
}

/** What somebody in a process does, for the trace and for the mechanisms that are switched off. */
export interface Activity {
  readonly name: string;
  /** Of the queue or of a repository. */
  readonly verb?: string;
  /** The lease of an attempt. */
  readonly token?: string;
}

export const activity = new AsyncLocalStorage<Activity>();

/** The rest of a verb belongs to it, whatever it calls. */
export function during<T>(more: Partial<Activity>, act: () => T): T {
  return activity.run({ name: '?', ...activity.getStore(), ...more }, act);
}

/** `answer`: the database has done it, and the caller is yet to hear. */
export type GateKind = 'begin' | 'statement' | 'commit' | 'answer' | 'work';

/** A place at which somebody waits until the scheduler lets him go on. */
export interface Gate {
  readonly operation: Operation;
  readonly kind: GateKind;
  readonly what: string;
  readonly pass: () => void;
  readonly fail: (error: unknown) => void;
}

/** One transaction, or one read outside of any. */
export class Operation {
  readonly process: Process;
  readonly activity: Activity;
  /** The step at which it began: what it decides on is no older. */
  readonly begun: number;
  readonly begun_ms: number;
  /** The connection that it holds. */
  lane: number | undefined;
  /** Calls to the database that have no answer yet. */
  calls = 0;
  /** They wait for the lock of another transaction. */
  blocked = false;
  /** It has changed rows. */
  wrote = false;
  /** How often its body began: more than once after a deadlock. */
  tries = 0;
  /** What it will meet at its next gate. */
  doom: Error | undefined;

  constructor(process: Process, begun: number, begun_ms: number) {
    this.process = process;
    this.activity = activity.getStore() ?? { name: process.name };
    this.begun = begun;
    this.begun_ms = begun_ms;
  }

  toString(): string {
    const { name, verb } = this.activity;
    return verb ? `${name} · ${verb}` : name;
  }
}

/** Not a failure of the code: the line to the database was cut. */
export class LineCut extends StorageUnavailable {}

/** One of each class of failures that storage has. */
const STORAGE_FAILURES = {
  away: () => new LineCut('the line was cut'),
  busy: () => new StorageBusy('the transaction was aborted'),
  full: () => new InsufficientStorage('the disk is full'),
  refused: () => new StorageRefused(new Error('the statement is refused')),
} as const;
export type StorageFailureName = keyof typeof STORAGE_FAILURES;

export const STORAGE_FAILURE_NAMES = Object.keys(STORAGE_FAILURES) as StorageFailureName[];

export function storageFailure(name: StorageFailureName): Error {
  return STORAGE_FAILURES[name]();
}

const TEXTS = STORAGE_FAILURE_NAMES.map((name) => storageFailure(name).message);

/** True for what `storageFailure` made, and for copies of it in the log. A real failure has other words. */
export function isMadeFailure(error: unknown): boolean {
  return error instanceof Error && TEXTS.includes(error.message);
}

/** Its process is dead: whoever gets this does nothing more. */
class Killed extends Error {}

export interface Lanes {
  /** Connections of all processes. On SQLite there is one database for all, and no transaction waits for another. */
  readonly lanes: readonly Db[];
  /** Of these connections, which wait for a lock. */
  blocked(): Promise<ReadonlySet<number>>;
}

/** A millisecond passes with each step, and hours when a script says so. */
export class TestClock implements Clock {
  #now = Date.parse('2030-01-01T00:00:00.000Z');
  readonly now = () => this.#now;
  readonly monotonic = () => this.#now;

  pass(ms: number): void {
    this.#now += ms;
  }
}

/** What a statement that waits for no lock takes at most, most of the time, ms. */
const ANSWER_MS = 2;
/** Turns of the event loop until nobody moves: one that is late, on a busy machine, leaves the next to others once or twice. */
const TURNS = 4;

/**
 * Lets one of all that wait at gates go on, and waits until everybody stands still again: at a gate, at the end, or
 * behind the lock of somebody who waits at a gate. So one list of choices gives one interleaving, on PostgreSQL too.
 * fast-check's own scheduler waits for the promise that it has let go on, which never settles behind such a lock; what
 * it is used for here is making commands and choices, replaying and shrinking them.
 */
export class Scheduler {
  readonly trace: string[] = [];
  readonly gates: Gate[] = [];
  readonly #lanes: Lanes;
  readonly #clock: TestClock;
  readonly #free: number[];
  readonly #calling = new Set<Operation>();
  #news = Promise.withResolvers<void>();
  #last: Activity | undefined;

  constructor(lanes: Lanes, clock: TestClock) {
    this.#lanes = lanes;
    this.#clock = clock;
    this.#free = lanes.lanes.map((_lane, index) => index);
  }

  get step(): number {
    return this.trace.length;
  }

  get isCalling(): boolean {
    return this.#calling.size > 0;
  }

  /** Something that passes gates; of a dead process nobody hears any more. */
  async operate<T>(process: Process, act: (operation: Operation) => Promise<T>): Promise<T> {
    const operation = new Operation(process, this.step, this.#clock.now());
    try {
      return await act(operation);
    } catch (error) {
      if (process.dead) return new Promise<never>(() => {});
      throw error;
    } finally {
      this.release(operation);
    }
  }

  /** Resolves when the scheduler says so. */
  pass(operation: Operation, kind: GateKind, what: string): Promise<void> {
    if (operation.process.dead) return Promise.reject(new Killed());
    if (operation.doom) return Promise.reject(operation.doom);
    return new Promise((resolve, reject) => {
      this.gates.push({ operation, kind, what, pass: resolve, fail: reject });
    });
  }

  /** The connection for an operation whose first gate has been opened. */
  lane(operation: Operation): Db {
    operation.lane ??= this.#free.shift();
    return this.#lanes.lanes[operation.lane as number] as Db;
  }

  /** A call to the database: until it is answered or waits for a lock, nobody else moves. */
  async call<T>(operation: Operation, answer: Promise<T>): Promise<T> {
    this.calls(operation, 1);
    try {
      return await answer;
    } finally {
      this.calls(operation, -1);
    }
  }

  /** Its connection and its locks are free. */
  release(operation: Operation): void {
    if (operation.lane === undefined) return;
    this.#free.unshift(operation.lane);
    operation.lane = undefined;
    for (const other of this.#calling) other.blocked = false;
  }

  calls(operation: Operation, more: 1 | -1): void {
    operation.calls += more;
    if (operation.calls > 0) this.#calling.add(operation);
    else {
      operation.blocked = false;
      this.#calling.delete(operation);
      this.#news.resolve();
    }
  }

  /** The gates that may be opened: a transaction begins only where a connection is free. */
  enabled(): Gate[] {
    return this.gates.filter(({ kind }) => kind !== 'begin' || this.#free.length > 0);
  }

  /** Who moved last, or who came first. */
  continued(enabled: readonly Gate[]): Gate | undefined {
    return enabled.findLast(({ operation }) => operation.activity.name === this.#last?.name) ?? enabled[0];
  }

  open(gate: Gate): void {
    this.#leave(gate, '');
    this.#last = gate.operation.activity;
    gate.pass();
  }

  fail(gate: Gate, error: Error): void {
    this.#leave(gate, ` ✗ ${error.message}`);
    gate.fail(error);
  }

  /** Transactions roll back, answers are lost, and nothing of the process goes on. */
  kill(process: Process): void {
    process.dead = true;
    for (const gate of this.gates.filter(({ operation }) => operation.process === process)) {
      this.#leave(gate, ' ✗ killed');
      gate.fail(new Killed());
    }
  }

  /** Ends all transactions, as a database does that crashes. */
  async cutAll(error: Error): Promise<void> {
    const isCut = ({ operation, kind }: Gate) => operation.lane !== undefined && kind !== 'answer';
    for (const operation of this.#calling) operation.doom = error;
    while (this.gates.some(isCut) || this.isCalling) {
      for (const gate of this.gates.filter(isCut)) this.fail(gate, error);
      await this.settled();
      if (this.isCalling && !this.gates.some(isCut)) await this.progress();
    }
  }

  note(what: string): void {
    this.trace.push(what);
    this.#clock.pass(1);
  }

  /** Everybody stands still. */
  async settled(): Promise<void> {
    for (;;) {
      // All that needs no answer of the database happens in these turns.
      for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
      if ([...this.#calling].every(({ blocked }) => blocked)) return;
      this.#news = Promise.withResolvers();
      if (await this.#isNewsWithin(ANSWER_MS)) continue;
      const waiting = await this.#lanes.blocked();
      for (const operation of this.#calling) operation.blocked = waiting.has(operation.lane as number);
    }
  }

  /** Something happens in the database by itself: it finds a deadlock. */
  async progress(): Promise<void> {
    for (const operation of this.#calling) operation.blocked = false;
    this.#news = Promise.withResolvers();
    await this.#isNewsWithin(100);
  }

  async #isNewsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, ms, false);
    });
    const isNews = await Promise.race([this.#news.promise.then(() => true), late]);
    clearTimeout(timer);
    return isNews;
  }

  #leave(gate: Gate, note: string): void {
    this.gates.splice(this.gates.indexOf(gate), 1);
    this.note(`${gate.operation} · ${gate.kind} ${gate.what}${note}`);
  }
}
