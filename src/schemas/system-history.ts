import { z } from 'zod';
import { Timestamp, Uuid } from './fields.ts';
import { nameResponses } from './named.ts';

/** A process, as the overview lists it. */
export const ProcessIdentity = z.object({ worker_id: Uuid, host: z.string(), pid: z.int() });
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

const Counts = z.array(z.int());
/** `null`: the database did not answer. */
const MaybeCounts = z.array(z.int().nullable());
/** Seconds. */
const Durations = z.array(z.number());

/**
 * Measurements of one process over the last hour. All lists are as long as `at` and in its order. Values that
 * end in `_total` count from the start of the process.
 */
export const SystemHistory = z.object({
  process: ProcessIdentity,
  /** When the process started measuring. */
  since: Timestamp,
  /** Time between two measurements; the last one is current. */
  interval_seconds: z.number(),
  /** Times of the measurements, oldest first. */
  at: z.array(Timestamp),
  runs: z.object({
    /** In the queue of all processes. */
    pending: MaybeCounts,
    /** Of all processes. */
    running: MaybeCounts,
    /** Of this process. */
    executing: Counts,
    /** Ended in this process. */
    ended_total: Counts,
    /** Of these, runs that ended with `error` or `timeout`. */
    failed_total: Counts,
  }),
  webhooks: z.object({ pending: MaybeCounts, dead: MaybeCounts }),
  requests_total: Counts,
  /** Delay of the event loop since the previous measurement. */
  event_loop_lag_seconds: z.object({ p99: Durations, max: Durations }),
  /** Resident memory. */
  memory_bytes: Counts,
  /** Connections of this process to PostgreSQL, of all pools; `waiting`: callers without one. 0 with SQLite. */
  connections: z.object({ open: Counts, idle: Counts, waiting: Counts }),
});
export type SystemHistory = z.infer<typeof SystemHistory>;

nameResponses({ SystemHistory });
