import type { Clock } from '../core/clock.ts';
import { ServerError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { EventBus } from '../events/bus.ts';
import type { EventWriter, LiveRuns } from '../events/writer.ts';
import type { GraphMemory, GraphRegistry, GraphRuntime } from '../graphs/graph.ts';
import type { RunKwargs } from '../schemas/runs.ts';
import type { EndedRun } from '../schemas/system.ts';
import type { RunError } from '../schemas/threads.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { Lease } from '../storage/runs/lease.ts';
import type { WriteBuffer, WriteBufferOptions } from '../storage/runs/write-buffer.ts';

/** Why an attempt is stopped before its graph has ended; the abort reason visible to the graph's nodes. */
export class StopReason extends Error {
  readonly kind: 'cancelled' | 'timeout' | 'shutdown' | 'lease lost';
  /** Error reported to the client; null if none is reported. */
  readonly detail: RunError | null;

  constructor(kind: StopReason['kind'], detail: RunError | null = null) {
    super(detail?.message || kind);
    this.name = 'AbortError';
    this.kind = kind;
    this.detail = detail;
  }
}

/** Transient failure of storage, not of the graph: the same attempt may succeed later. */
export function isStorageUnavailable(failure: unknown): boolean {
  return failure instanceof ServerError && (failure.status === 503 || failure.status === 507);
}
export interface AttemptContext {
  readonly queue: RunQueue;
  /** Write buffer of an attempt, fenced by its lease. */
  readonly writes: (lease: Lease, options: WriteBufferOptions) => WriteBuffer;
  readonly live: LiveRuns;
  readonly bus: EventBus;
  readonly graphs: GraphRegistry;
  /** Checkpointer and store of the graph. */
  readonly memory: (writes: WriteBuffer, lease: Lease, durability: RunKwargs['durability']) => GraphMemory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rules: AttemptRules;
  /** Retry limit of runs whose graph host ended. */
  readonly hostFailure?: FailurePolicy;
  /** Called for every run that ended in this process. */
  readonly onEnded?: (run: EndedRun) => void;
}
export interface AttemptRules {
  /** Time-out of a run, ms: it ends as `timeout`. */
  readonly timeout_ms: number;
  /** Retention of the log of an ended run, ms. */
  readonly log_retention_ms: number;
  /** Delay before a run is retried after a storage failure, ms. */
  readonly retry_ms: number;
  readonly version: string;
}

export interface Attempt {
  readonly claimed: ClaimedRun;
  readonly kwargs: RunKwargs;
  readonly writes: WriteBuffer;
  readonly writer: EventWriter;
  readonly memory: GraphMemory;
  /** Start time, epoch ms. */
  readonly started: number;
  /** `undefined` if the graph could not be loaded. */
  graph: GraphRuntime | undefined;
  /** Thrown by the graph, or while loading it. */
  failure: unknown;
}
