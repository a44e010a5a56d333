import type { Ids } from '../core/ids.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { ExecutorScope } from '../storage/queue/placement.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { AttemptContext } from './attempt.ts';
import type { AutoConcurrency } from './auto-concurrency.ts';
import type { runAttempt } from './run-attempt.ts';

/** What a `RunWorker` needs. */
export interface RunWorkerDeps {
  readonly queue: RunQueue;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly worker_id: string;
  /** Concurrent runs. */
  readonly concurrency: number;
  /** Admits further ones while the process has time for them. */
  readonly auto?: AutoConcurrency | undefined;
  /** Retry limit of runs whose attempts break. */
  readonly failure: FailurePolicy;
  /** The queue limits the runs of each owner: those that are ready may have to wait for others to end. */
  readonly is_capped?: boolean;
  /** Which runs it claims now; all without it. */
  readonly scope?: (() => ExecutorScope | undefined) | undefined;
  /** What this worker is, where several executors share the queue. */
  readonly executor_id?: string | undefined;
  /** Claims nothing while it is false. */
  readonly isLeaseHeld: () => boolean;
  /** What attempts need. */
  readonly attempts: AttemptContext;
  /** Executes a claimed run; another one only in tests. */
  readonly attempt?: typeof runAttempt;
}
