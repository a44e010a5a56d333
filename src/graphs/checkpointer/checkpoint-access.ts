import type { CommitMode } from '../../db/db.ts';
import type { RecordedStep, RecordLevel } from '../../schemas/steps.ts';
import type { CheckpointRepository } from '../../storage/checkpoints/checkpoints.ts';
import type { AncestorQuery, CheckpointQuery } from '../../storage/checkpoints/find.ts';
import type { Fence, NewCheckpoint, NewWrites } from '../../storage/checkpoints/put.ts';
import type { StoredCheckpoint } from '../../storage/checkpoints/rows.ts';
import type { CurrentSteps } from '../../storage/runs/active-attempts.ts';

/** When a write is on disk: before the verb resolves, or with a later group commit. */
type Durability = Extract<CommitMode, 'sync' | 'async'>;

/**
 * The checkpoints of one writer: storage in this process, or in the server's process for a graph host. Verbs that write
 * return false, and write nothing, if the thread must be idle and is not; an attempt without its lease throws.
 */
export interface CheckpointAccess {
  /** Newest first. Includes everything that this writer has written. */
  find(query: CheckpointQuery): Promise<StoredCheckpoint[]>;
  /** Nearest first; likewise. */
  ancestors(query: AncestorQuery): Promise<StoredCheckpoint[]>;
  put(checkpoint: NewCheckpoint, durability: Durability): Promise<boolean>;
  putWrites(request: NewWrites, durability: Durability): Promise<boolean>;
  deleteThread(thread_id: string): Promise<boolean>;
  /** Steps of the run that are stored with what is written next in this turn of the event loop, or with its end. */
  record(steps: readonly RecordedStep[]): void;
  /** A graph host executes the run: `isBusy` tells whether its event loop is busy. */
  executedElsewhere?(isBusy: () => boolean): void;
  /** From now on `current` reports what the run executes. */
  observe?(current: CurrentSteps): void;
}

/** Who writes checkpoints: an attempt of a run, or a request outside of runs. */
export interface CheckpointWriter {
  readonly access: CheckpointAccess;
  readonly thread_id: string;
  /** `null` outside of runs. */
  readonly run_id: string | null;
  readonly durability: Durability;
  /** Random suffix of the versions that this writer generates. */
  readonly writer: string;
  /** Holds a lease: the only writer of its thread. */
  readonly is_attempt: boolean;
  /** What is recorded of the run. */
  readonly record: RecordLevel;
  /** Whether calls are recorded with what they were given and returned, for traces. */
  readonly has_contents?: boolean | undefined;
}

/** Access to storage in this process, under `fence`. */
export function fencedCheckpoints(checkpoints: CheckpointRepository, fence: Fence): CheckpointAccess {
  /** Read-your-writes: a read from the database must see the attempt's buffered writes. */
  const flush = async () => {
    if ('attempt' in fence) await fence.attempt.flush();
  };
  return {
    async find(query) {
      await flush();
      return checkpoints.find(query);
    },
    async ancestors(query) {
      await flush();
      return checkpoints.ancestors(query);
    },
    put: (checkpoint, durability) => checkpoints.put(fence, checkpoint, durability),
    putWrites: (request, durability) => checkpoints.putWrites(fence, request, durability),
    deleteThread: (thread_id) => checkpoints.deleteThread(fence, thread_id),
    record(steps) {
      if ('attempt' in fence) fence.attempt.addSteps(steps);
    },
    executedElsewhere(isBusy) {
      if ('attempt' in fence) fence.attempt.executedElsewhere(isBusy);
    },
    observe(current) {
      if ('attempt' in fence) fence.attempt.observe(current);
    },
  };
}
