import type { ServerError } from '../core/errors.ts';
import type { Transaction } from '../db/db.ts';
import type { Run } from '../schemas/runs.ts';
import type { PricedStep } from '../schemas/steps.ts';
import type { Interrupt } from '../schemas/threads.ts';

/** Data for riders that comes with a run or with what it writes, by the name of the rider. */
export type Cargo = Readonly<Record<string, unknown>>;

/** A run that is being added. */
export interface AddedRun {
  readonly run: Run;
  readonly markers: { readonly thread_retention: string };
  /** Id of the API key that the request was made with. */
  readonly key_id?: string | undefined;
  /** Set if the request may answer what its thread asks. */
  readonly answer?: object | undefined;
  readonly cargo?: Cargo | undefined;
}

/** What an attempt stores. */
export interface Flush {
  readonly run_id: string;
  readonly thread_id: string;
  /** Calls of models that no earlier flush had, whether or not their steps stay. */
  readonly calls: readonly PricedStep[];
  readonly cargo?: Cargo | undefined;
  /** The attempt has lost its run to another one, or the run is deleted: nothing else of it is stored, and not again. */
  readonly is_lost?: true;
}

/** Why a run is not added: what its request fails with. */
export type Refusal = ServerError;

/**
 * Takes part in the transactions of the queue. `cargo` is what a run or an attempt carries under the rider's name. A
 * transaction may run again from its start: a rider changes nothing outside of the database.
 */
export interface Rider<C = unknown, F = unknown> {
  readonly name: string;
  /** The bus announces the end of each run with its cargo: `run.ended`. At most once, as all of the bus. */
  readonly follows_ends?: boolean;
  /** Keys of a run's `config` that it enforces: without it, a request that has one is refused. */
  readonly config_keys?: readonly string[];
  /** Before a configuration is stored, of a run, an assistant or a cron; in no transaction. */
  checkConfig?(config: Readonly<Record<string, unknown>>): Refusal | undefined;
  /** With the thread locked, before the run, or anything else, is written. */
  admit?(tx: Transaction, added: AddedRun, cargo: C | undefined): Promise<Refusal | undefined> | undefined;
  /** The run is in the queue, and the thread locked. */
  enqueued?(tx: Transaction, added: AddedRun, cargo: C | undefined): Promise<void> | void;
  /** The run that is being added resumes its thread at these interrupts. */
  resumed?(tx: Transaction, added: AddedRun, interrupts: readonly Interrupt[]): Promise<void> | void;
  /**
   * Last in the transaction that stores output of an attempt, or the end of its run, under its lease. Resolves to what the
   * attempt gets once it is committed. The same may be stored again if the response to the commit was lost: `calls` has
   * only what is new, and `cargo` must be idempotent.
   */
  flushed?(tx: Transaction, flush: Flush, cargo: F | undefined): Promise<unknown> | undefined;
}

/** The riders of a server, in order. Without any, a transaction has no statement more. */
export class Riders {
  readonly #riders: Rider[];

  constructor(riders: readonly Rider[]) {
    this.#riders = [...riders];
  }

  /** Before the first run: extensions are opened after the storage that they use. */
  add(riders: readonly Rider[]): void {
    this.#riders.push(...riders);
  }

  announceEnd({ cargo = {} }: AddedRun): boolean {
    return this.#riders.some(({ name, follows_ends }) => follows_ends && cargo[name] !== undefined);
  }

  enforces(config_key: string): boolean {
    return this.#riders.some(({ config_keys = [] }) => config_keys.includes(config_key));
  }

  checkConfig(config: Readonly<Record<string, unknown>>): Refusal | undefined {
    return this.#riders.map((rider) => rider.checkConfig?.(config)).find(Boolean);
  }

  /** The first refusal. */
  async admit(tx: Transaction, added: AddedRun): Promise<Refusal | undefined> {
    for (const rider of this.#riders) {
      const refusal = await rider.admit?.(tx, added, added.cargo?.[rider.name]);
      if (refusal) return refusal;
    }
    return undefined;
  }

  async enqueued(tx: Transaction, added: AddedRun): Promise<void> {
    for (const rider of this.#riders) await rider.enqueued?.(tx, added, added.cargo?.[rider.name]);
  }

  async resumed(tx: Transaction, added: AddedRun, interrupts: readonly Interrupt[]): Promise<void> {
    for (const rider of this.#riders) await rider.resumed?.(tx, added, interrupts);
  }

  /** What each resolves to, by name. */
  async flushed(tx: Transaction, flush: Flush): Promise<Cargo> {
    const results: Record<string, unknown> = {};
    if (flush.calls.length === 0 && flush.cargo === undefined) return results;
    for (const rider of this.#riders)
      if (rider.flushed) results[rider.name] = await rider.flushed(tx, flush, flush.cargo?.[rider.name]);
    return results;
  }
}
