import type { ServerError } from '../core/errors.ts';
import type { Transaction } from '../db/db.ts';
import type { Run } from '../schemas/runs.ts';

/** Data for riders that comes with a run, by the name of the rider. */
export type Cargo = Readonly<Record<string, unknown>>;

/** A run that is being added. */
export interface AddedRun {
  readonly run: Run;
  /** Id of the API key that the request was made with. */
  readonly key_id?: string | undefined;
  readonly cargo?: Cargo | undefined;
}

/** Why a run is not added: what its request fails with. */
export type Refusal = ServerError;

/**
 * Takes part in the transactions of the queue, with the thread locked. `cargo` is what the run carries under the rider's
 * name. A transaction may run again from its start: a rider changes nothing outside of the database.
 */
export interface Rider<C = unknown> {
  readonly name: string;
  /** The bus announces the end of each run with its cargo: `run.ended`. At most once, as all of the bus. */
  readonly follows_ends?: boolean;
  /** Before the run, or anything else, is written. */
  admit?(tx: Transaction, added: AddedRun, cargo: C | undefined): Promise<Refusal | undefined> | undefined;
  /** The run is in the queue. */
  enqueued?(tx: Transaction, added: AddedRun, cargo: C | undefined): Promise<void> | void;
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
}
