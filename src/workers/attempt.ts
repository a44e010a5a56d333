import { type Backoff, backoffMs, systemRandom } from '../core/backoff.ts';
import type { Clock } from '../core/clock.ts';
import { publicFailure } from '../core/failure.ts';
import { failureClass, isTemporary } from '../core/failure-class.ts';
import type { Logger } from '../core/logger.ts';
import type { Meter } from '../core/meter.ts';
import { sleep } from '../core/timers.ts';
import type { EventBus } from '../events/bus.ts';
import type { EventWriter, LiveRuns } from '../events/writer.ts';
import type { CheckpointGate } from '../graphs/checkpointer/open.ts';
import type { GraphMemory, GraphRegistry, GraphRuntime, RunSpan } from '../graphs/graph.ts';
import { ResumeRefused } from '../graphs/runtime/resume-refused.ts';
import type { RunKwargs, RunStatus } from '../schemas/runs.ts';
import type { RecordLevel, StepContents } from '../schemas/steps.ts';
import type { EndedRun } from '../schemas/system.ts';
import type { RunError } from '../schemas/threads.ts';
import type { NewCheckpoint } from '../storage/checkpoints/put.ts';
import type { ResumePlace } from '../storage/checkpoints/resumed-run.ts';
import type { ClaimedRun } from '../storage/queue/claim.ts';
import type { FailurePolicy } from '../storage/queue/end-attempt.ts';
import type { RunEnd } from '../storage/queue/finish.ts';
import type { RunQueue } from '../storage/queue/queue.ts';
import type { RunOutcome } from '../storage/runs/events.ts';
import type { Lease } from '../storage/runs/lease.ts';
import type { AttemptRecord, BatchStep } from '../storage/runs/steps.ts';
import type { WriteBuffer, WriteBufferOptions } from '../storage/runs/write-buffer.ts';
import type { StoreStateAfterRun } from '../storage/threads/state-after-run.ts';
import type { AttemptLog, OutputRules } from './attempt-log.ts';
import type { AttemptObserver, ObserveAttempt, Stop } from './attempt-observer.ts';

/** Why an attempt is stopped before its graph has ended; the abort reason visible to the graph's nodes. */
export class StopReason extends Error {
  readonly kind: 'cancelled' | 'timeout' | 'shutdown' | 'lease lost' | 'lease ended';
  /** Error reported to the client; null if none is reported. */
  readonly detail: RunError | null;

  constructor(kind: StopReason['kind'], detail: RunError | null = null) {
    super(detail?.message || kind);
    this.name = 'AbortError';
    this.kind = kind;
    this.detail = detail;
  }
}

export interface MemoryOptions extends Pick<RunKwargs, 'durability'> {
  /** Called after each checkpoint of the run itself, not of a subgraph. The graph waits for what it returns. */
  readonly onCheckpoint: (checkpoint: NewCheckpoint, isElsewhere: boolean) => Promise<void> | undefined;
  /** These two as in `RunCheckpointerDeps`. */
  readonly has_history: boolean;
  readonly gate?: CheckpointGate | undefined;
}

/** Parts of a run that a commit has stored. */
export interface Recorded {
  readonly claimed: ClaimedRun;
  /** Steps that have ended. */
  readonly steps: readonly BatchStep[];
  /** The attempt, once it has ended; also if `runs.record` is off. */
  readonly attempt?: AttemptRecord | undefined;
  /** The run, once it has ended. */
  readonly end?: RecordedEnd;
}

export type RecordedEnd = Pick<RunEnd, 'error' | 'at'> &
  Pick<RunOutcome, 'status'> & {
    /** Input and output of the run, for traces. */
    readonly contents: () => StepContents | undefined;
  };

/** Notes in what is stored next that the attempt has begun, or with what outcome it ended; unless `runs.record` is off. */
export function recordAttempt(
  { worker_id, clock, rules }: Pick<AttemptContext, 'worker_id' | 'clock' | 'rules'>,
  { writes, started, resumed_from_run_id }: Pick<Attempt, 'writes' | 'started' | 'resumed_from_run_id'>,
  status: AttemptRecord['status'] = 'running',
): AttemptRecord {
  const ended = status === 'running' ? undefined : clock.now();
  const record = { worker_id, started, status, resumed_from_run_id, ...(ended !== undefined && { ended }) };
  if (rules.record !== 'off') writes.setAttempt(record);
  return record;
}

export interface AttemptContext {
  readonly queue: RunQueue;
  /** Write buffer of an attempt, fenced by its lease. */
  readonly writes: (lease: Lease, options: WriteBufferOptions) => WriteBuffer;
  readonly live: LiveRuns;
  readonly bus: EventBus;
  readonly graphs: GraphRegistry;
  /** Checkpointer and store of the graph. */
  readonly memory: (writes: WriteBuffer, lease: Lease, options: MemoryOptions) => GraphMemory;
  /** The run that another one resumes; without it, nothing records it. */
  readonly resumedRun?: (place: ResumePlace) => Promise<string | undefined>;
  /** Interrupts whose answers an earlier attempt of the run has taken; without it, none is known. */
  readonly takenAnswers?: (lease: Lease) => Promise<string[]>;
  /** This process's worker. */
  readonly worker_id: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter?: Meter | undefined;
  readonly rules: AttemptRules;
  /** By default, output is only kept. */
  readonly output?: OutputRules;
  readonly observeAttempt?: ObserveAttempt | undefined;
  /** Retry limit of runs whose graph host ended. */
  readonly hostFailure?: FailurePolicy;
  /** Retry limit of runs during which a database that is there refused something for now. */
  readonly storageFailure?: FailurePolicy;
  /** For a run that ended without the state of its thread. Absent where threads need none. */
  readonly storeStateAfterRun?: StoreStateAfterRun | undefined;
  /** The span that the spans of user code are below; without it, they are traces of their own. */
  readonly spanOf?: ((claimed: ClaimedRun) => RunSpan | undefined) | undefined;
  /** Called for every run that ended in this process. */
  readonly onEnded?: (run: EndedRun) => void;
  /** Called after each commit that has stored steps or the end of an attempt. Must not throw. */
  readonly onRecorded?: ((recorded: Recorded) => void) | undefined;
}

export interface AttemptRules {
  /** What is recorded of the run. */
  readonly record: RecordLevel;
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
  readonly log: AttemptLog;
  /** Once aborted, the run continues elsewhere from its next checkpoint. */
  readonly handOver: AbortSignal;
  readonly observer: AttemptObserver | undefined;
  /** Start time, epoch ms. */
  readonly started: number;
  /** The run that it resumes; `undefined` for most. */
  resumed_from_run_id: string | undefined;
  /** `undefined` if the graph could not be loaded. */
  graph: GraphRuntime | undefined;
  /** Thrown by the graph, or while loading it. */
  failure: unknown;
  /** The limit that stopped the run; `undefined` for most. */
  stop: Stop | undefined;
}

type EndStatus = Exclude<RunStatus, 'pending' | 'running'>;

/** What happens to a run after its attempt. */
export type Outcome =
  | { readonly kind: 'lost' }
  | {
      readonly kind: 'release';
      readonly charge: boolean;
      readonly host_ended?: true;
      /** Storage did not finish something in time, or has no space: it counts unless storage turns out to be away. */
      readonly storage_failed?: true;
      readonly lease_ended?: true;
      /** By how much the clock is behind the thread's newest checkpoint, ms. */
      readonly clock_behind_ms?: number;
    }
  | EndOutcome;

/** The run has ended. */
export interface EndOutcome {
  readonly kind: 'end';
  readonly status: EndStatus;
  readonly error: RunError | null;
  /** A limit stopped the run, which waits for a person. */
  readonly ask?: NonNullable<Stop['ask']>;
}

/** The error of a run that clients see. A refused statement names tables and columns: only the log has it. */
export function runError(failure: unknown): RunError {
  if (failure instanceof ResumeRefused) return { ...publicFailure(failure), ...failure.refusal };
  if (failureClass(failure) !== 'storage refused') return publicFailure(failure);
  const message = 'The database refused something of this run for good; see the server log.';
  return { error: 'StorageRefused', message };
}

/** The wait between two attempts to reach storage; the first one is `retry_ms`. */
const MAX_RETRY_MS = 5_000;

/**
 * Retries a storage verb while the database is unavailable: an outage must not cost a run its end, and no code of the
 * project executes to find out whether it has ended. Meanwhile it rejects readers that wait for the buffered writes, and
 * `explain` reports the outage. Rethrows any other error. `operation` receives how often it has failed.
 */
export async function retryWhileUnavailable<T>(
  { logger, rules, clock }: AttemptContext,
  { writes }: Attempt,
  operation: (failures: number) => Promise<T>,
): Promise<T> {
  const backoff: Backoff = { first_ms: rules.retry_ms, longest_ms: Math.max(rules.retry_ms, MAX_RETRY_MS) };
  for (let failures = 0; ; ) {
    try {
      return await operation(failures);
    } catch (error) {
      if (!isTemporary(error)) throw error;
      failures += 1;
      writes.waitForStorage(error, clock.now());
      const in_ms = backoffMs(failures, backoff, systemRandom);
      logger.warn('database unavailable, retrying', { error, in_ms });
      await sleep(in_ms);
    }
  }
}
