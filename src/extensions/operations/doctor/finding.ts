import type { Db } from '../../../db/db.ts';
import type { OwnedData } from '../../../storage/owned-data.ts';

/** Something that a doctor found. */
export interface Finding {
  /** The check that found it, such as `crons`. */
  readonly check: string;
  /** `problem`: needs care. `notice`: good to know. */
  readonly level: 'problem' | 'notice';
  /** What is wrong and what to do, in one sentence or two. */
  readonly message: string;
  /** Mends exactly this, safely alongside running servers; absent if only a person can. */
  readonly fix?: () => Promise<unknown>;
}

export interface DoctorContext {
  readonly db: Db;
  /** Epoch ms of this process. */
  readonly now: () => number;
  /** The file of a SQLite database. */
  readonly path: string | undefined;
  /** A server uses the database: a process with a live lease, or one that has the SQLite file open. */
  readonly is_served: boolean;
  /** Rules for runs that the doctor ends. */
  readonly log_retention_ms: number;
  readonly max_attempts: number;
  /** How long a delivery is retried. */
  readonly give_up_ms: number;
  /** Connections to PostgreSQL that each process may open: none behind a pooler. */
  readonly max_connections: number;
  /** What extensions own in the database. */
  readonly owned?: readonly OwnedData[] | undefined;
}

/** Looks for one kind of trouble. Reads the database and changes nothing. */
export type Check = (context: DoctorContext) => Promise<Finding[]>;

/** What a check needs in a running server: without the limits that let fixes end runs and deliveries. */
export type QuickContext = Pick<
  DoctorContext,
  'db' | 'now' | 'path' | 'is_served' | 'max_connections' | 'owned'
>;
/** A check that takes milliseconds, however many rows there are. */
export type QuickCheck = (context: QuickContext) => Promise<Finding[]>;

/** `1 run`, `2 runs`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The first of them, and how many more there are. */
export function some(names: readonly string[], most = 3): string {
  const rest = names.length - most;
  return `${names.slice(0, most).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
