import { z } from 'zod';
import { CronRun } from './crons.ts';
import { Timestamp, Uuid } from './fields.ts';

/** Explanation of when a cron fires next, or why it does not. */
export const CronExplanation = z.object({
  cron_id: Uuid,
  /**
   * `scheduled`: fires at `next_run_date`; `due`: fires now; `overdue`: should have fired more than a minute ago;
   * `paused`: by a client; `disabled`: by the server; `ended`: no further date.
   */
  state: z.enum(['scheduled', 'due', 'overdue', 'paused', 'disabled', 'ended']),
  /** Human-readable; the fields say the same. */
  summary: z.string(),
  schedule: z.string(),
  timezone: z.string().nullable(),
  next_run_date: Timestamp.nullable(),
  end_time: z.string().nullable(),
  /** How long ago it should have fired, ms; 0 unless it is due. */
  overdue_ms: z.int(),
  /** Why the server disabled it. */
  disabled_reason: z.string().nullable(),
  /** The last times, newest first; at most 5. */
  fires: z.array(CronRun),
});
export type CronExplanation = z.infer<typeof CronExplanation>;
