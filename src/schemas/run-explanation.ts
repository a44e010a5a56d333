import { z } from 'zod';
import { Timestamp, Uuid } from './fields.ts';
import { nameResponses } from './named.ts';
import { CancelAction, RunStatus } from './runs.ts';
import { RunError } from './threads.ts';

/** Explanation of a run's state. */
export const RunExplanation = z.object({
  run_id: Uuid,
  thread_id: Uuid,
  status: RunStatus,
  /** Human-readable; the fields say the same. */
  summary: z.string(),
  /** Runs queued ahead on the thread, in order. */
  behind: z.array(Uuid),
  /** Earliest start; `null` once it executes or has ended. */
  due_at: Timestamp.nullable(),
  /** As requested; `null` once the run has ended. */
  priority: z.int().nullable(),
  /** The worker that executes it; `null` also for callers with access rules. */
  worker: z
    .object({
      worker_id: Uuid,
      host: z.string().nullable(),
      pid: z.int().nullable(),
      /** If the worker does not renew the lease, another worker claims the run. */
      lease_until: Timestamp.nullable(),
    })
    .nullable(),
  /** Attempt number from 1; `null` once it has ended. */
  attempt: z.int().nullable(),
  max_attempts: z.int(),
  /**
   * Why there is more than one attempt; `host left`: its graph host was blocked, or replaced; `unreadable`: the claiming
   * server lacks its encryption key; `clock behind`: its clock is behind the newest checkpoint of the thread.
   */
  retry_reason: z
    .enum([
      'worker lost',
      'host lost',
      'host left',
      'attempt broke',
      'storage failed',
      'server stopped',
      'claim lost',
      'unreadable',
      'clock behind',
    ])
    .nullable(),
  /** A pending cancellation that the worker has not applied yet. */
  cancel_action: CancelAction.nullable(),
  started_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  error: RunError.nullable(),
  /** The revision of a deployment that executed its last attempt; `null` if it is not known, and outside of deployments. */
  revision_id: Uuid.nullable(),
});
export type RunExplanation = z.infer<typeof RunExplanation>;

nameResponses({ RunExplanation });

/** The executor under its name in the API, where those that share a queue are revisions of a deployment. */
export function executedBy(executor_id: string | null) {
  return { revision_id: executor_id };
}
