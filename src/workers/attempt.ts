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
import type { RunQueue } from '../storage/queue/queue.ts';
import type { Lease } from '../storage/runs/lease.ts';
import type { WriteBuffer, WriteBufferOptions } from '../storage/runs/write-buffer.ts';

/** Why an attempt must stop before its graph has ended; the abort reason that the graph's nodes see. */
export class StopReason extends Error {
  readonly kind: 'cancelled' | 'timeout' | 'shutdown' | 'lease lost';
  /** What the client is told; null where it is told nothing. */
  readonly detail: RunError | null;

  constructor(kind: StopReason['kind'], detail: RunError | null = null) {
    super(detail?.message || kind);
    this.name = 'AbortError';
    this.kind = kind;
    this.detail = detail;
  }
}

/** A failure of storage, not of the graph: the same attempt may succeed later. */
export function isStorageUnavailable(failure: unknown): boolean {
  return failure instanceof ServerError && (failure.status === 503 || failure.status === 507);
}
export interface AttemptContext {
  readonly queue: RunQueue;
  /** What an attempt writes, under its lease. */
  readonly writes: (lease: Lease, options: WriteBufferOptions) => WriteBuffer;
  readonly live: LiveRuns;
  readonly bus: EventBus;
  readonly graphs: GraphRegistry;
  /** What the graph remembers with. */
  readonly memory: (writes: WriteBuffer, lease: Lease, durability: RunKwargs['durability']) => GraphMemory;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rules: AttemptRules;
  /** Hears of every run that ended here. */
  readonly onEnded?: (run: EndedRun) => void;
}
export interface AttemptRules {
  /** A run that takes longer ends as `timeout`, ms. */
  readonly timeout_ms: number;
  /** How long the log of an ended run is kept, ms. */
  readonly log_retention_ms: number;
  /** Wait before a run that storage failed is tried again, ms. */
  readonly retry_ms: number;
  readonly version: string;
}
/** One attempt as far as it has come. */

export interface Attempt {
  readonly claimed: ClaimedRun;
  readonly kwargs: RunKwargs;
  readonly writes: WriteBuffer;
  readonly writer: EventWriter;
  readonly memory: GraphMemory;
  /** When it began, ms since 1970. */
  readonly started: number;
  /** Undefined when the graph could not be had. */
  graph: GraphRuntime | undefined;
  /** What the graph, or getting it, threw. */
  failure: unknown;
}
