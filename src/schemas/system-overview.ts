import { z } from 'zod';
import { Timestamp, Uuid } from './fields.ts';
import { nameResponses } from './named.ts';
import { ProcessView } from './system.ts';

/** Outcomes of the stored runs that ended in the last 24 hours; at most the newest 10,000. */
export const EndedCounts = z.object({
  success: z.int(),
  error: z.int(),
  timeout: z.int(),
  interrupted: z.int(),
  /** How many ended in the last hour with `error` or `timeout`. */
  failed_last_hour: z.int(),
  /** When the oldest of them ended, if there are 10,000; `null` if these are all runs of the last 24 hours. */
  since: Timestamp.nullable(),
});
export type EndedCounts = z.infer<typeof EndedCounts>;

/** Runs that ended within an hour of the last 24; of the newest 10,000. */
export const HourOfRuns = z.object({
  /** When the hour begins. */
  at: Timestamp,
  ended: z.int(),
  /** Of these, with `error` or `timeout`. */
  failed: z.int(),
  /** Median time from start to end; of the newest 1,000 runs, `null` without any. */
  median_seconds: z.number().nullable(),
});
export type HourOfRuns = z.infer<typeof HourOfRuns>;

/** A run that is due and has not started. */
export const WaitingRun = z.object({
  run_id: Uuid,
  thread_id: Uuid,
  /** When it became due. */
  since: Timestamp,
});
export type WaitingRun = z.infer<typeof WaitingRun>;

/** A finding that `agent-server doctor` reports, too. */
export const ServerWarning = z.object({
  /** What was examined, such as `runs` or `connections`. */
  check: z.string(),
  /** `problem`: needs care. `notice`: good to know. */
  level: z.enum(['problem', 'notice']),
  /** What is wrong and what to do. */
  message: z.string(),
});
export type ServerWarning = z.infer<typeof ServerWarning>;

/** Pending interrupts of the 500 most recently interrupted threads. */
export const InterruptCounts = z.object({
  waiting: z.int(),
  /** There may be more. */
  more: z.boolean(),
});
export type InterruptCounts = z.infer<typeof InterruptCounts>;

/** `busy`, `interrupted` and `error` are counted up to 10,000. */
export const ThreadCounts = z.object({
  /** At most a minute old; beyond 10,000 an estimate on PostgreSQL. */
  total: z.int(),
  /** Threads with a run that is executing or next in line. */
  busy: z.int(),
  /** Threads whose last run stopped at an interrupt or before its end; some may be busy. */
  interrupted: z.int(),
  /** Threads whose last run failed; some may be busy. */
  error: z.int(),
});
export type ThreadCounts = z.infer<typeof ThreadCounts>;

export const StorageView = z.object({ engine: z.enum(['sqlite', 'postgres']), size_bytes: z.int() });
export type StorageView = z.infer<typeof StorageView>;

/** The state of the whole server, of all users. */
export const SystemOverview = z.object({
  runs: z.object({
    /** Beyond 10,000 an estimate on PostgreSQL. */
    pending: z.int(),
    running: z.int(),
    /** The run that has been due for longest; `null` if none is waiting. */
    oldest_waiting: WaitingRun.nullable(),
    ended: EndedCounts,
    /** The last 24 hours, oldest first. If a thousand runs ended in them, some seconds old. */
    hours: z.array(HourOfRuns),
  }),
  threads: ThreadCounts,
  interrupts: InterruptCounts,
  /** Crons with a next date, and those that should have fired more than a minute ago. */
  crons: z.object({ enabled: z.int(), overdue: z.int() }),
  webhooks: z.object({ pending: z.int(), dead: z.int() }),
  processes: z.array(ProcessView),
  storage: StorageView,
  /** The cheap checks of `agent-server doctor`; at most a minute old. */
  warnings: z.array(ServerWarning),
  versions: z.object({
    server: z.string(),
    /** Version in the project; `null` if the project lacks it. */
    langgraph_js: z.string().nullable(),
    node: z.string(),
  }),
  at: Timestamp,
});
export type SystemOverview = z.infer<typeof SystemOverview>;

nameResponses({ SystemOverview });
