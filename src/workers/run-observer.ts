import type { RunSpan } from '../graphs/graph.ts';
import type { TraceStats } from '../schemas/system.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { Recorded } from './attempt.ts';

/** Sees what runs do, and reports it elsewhere. Its functions never throw. */
export interface RunObserver {
  /** Whether it reports the inputs and outputs of runs, models and tools, so that steps have to keep them. */
  readonly has_contents: boolean;
  onRecorded(recorded: Recorded): void;
  /** The run ended without an attempt of this process. */
  onLost(run_id: string): void;
  /** Span of a starting attempt, the parent of spans from its code. */
  spanOf(claimed: ClaimedRun): RunSpan;
  stats(): TraceStats;
}
