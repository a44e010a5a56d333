import { z } from 'zod';
import { Timestamp, Uuid } from './fields.ts';
import { CancelAction, RunStatus } from './runs.ts';
import { RunError } from './threads.ts';

/** Why a run is where it is. */
export const RunExplanation = z.object({
  run_id: Uuid,
  thread_id: Uuid,
  status: RunStatus,
  /** For people; the fields say the same. */
  summary: z.string(),
  /** Runs of the thread that go first, in their order. */
  behind: z.array(Uuid),
  /** When it may start; null once it executes or has ended. */
  due_at: Timestamp.nullable(),
  /** Who executes it. */
  worker: z
    .object({
      worker_id: Uuid,
      host: z.string().nullable(),
      pid: z.int().nullable(),
      /** Who does not renew it loses the run to another worker. */
      lease_until: Timestamp.nullable(),
    })
    .nullable(),
  /** How often it was started, 1 for the first; null once it has ended. */
  attempt: z.int().nullable(),
  max_attempts: z.int(),
  /** Why there is more than one attempt; `unreadable`: a server took it that lacks the key it is encrypted with. */
  retry_reason: z
    .enum(['worker lost', 'attempt broke', 'storage failed', 'server stopped', 'claim lost', 'unreadable'])
    .nullable(),
  /** A cancel that its worker has not followed yet. */
  cancel_action: CancelAction.nullable(),
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  error: RunError.nullable(),
});
export type RunExplanation = z.infer<typeof RunExplanation>;
