import type { Ids } from '../../core/ids.ts';
import type { RunKwargs } from '../../schemas/runs.ts';
import type { CheckpointRepository } from '../../storage/checkpoints/checkpoints.ts';
import type { Lease } from '../../storage/runs/lease.ts';
import type { WriteBuffer } from '../../storage/runs/write-buffer.ts';
import { fencedCheckpoints } from './checkpoint-access.ts';
import { Checkpointer } from './checkpointer.ts';

export interface RunCheckpointerDeps {
  readonly checkpoints: CheckpointRepository;
  readonly writes: WriteBuffer;
  readonly lease: Lease;
  readonly durability: RunKwargs['durability'];
}

/**
 * Checkpointer of one attempt of a run, fenced by its lease: without the lease it throws `LeaseLost` and writes
 * nothing. With durability `sync` each checkpoint is durable before the next step; otherwise it joins a later group
 * commit, and is durable by the end of the run.
 */
export function runCheckpointer({
  checkpoints,
  writes,
  lease,
  durability,
}: RunCheckpointerDeps): Checkpointer {
  return new Checkpointer({
    access: fencedCheckpoints(checkpoints, { attempt: writes }),
    is_attempt: true,
    thread_id: lease.thread_id,
    run_id: lease.run_id,
    durability: durability === 'sync' ? 'sync' : 'async',
    writer: lease.token.slice(-8),
  });
}
export interface ThreadCheckpointerDeps {
  readonly checkpoints: CheckpointRepository;
  readonly thread_id: string;
  readonly ids: Ids;
}

/**
 * Checkpointer of a thread outside of runs, for one request that reads or updates its state. An update throws
 * `Conflict` while a run of the thread is pending or running.
 */
export function threadCheckpointer({ checkpoints, thread_id, ids }: ThreadCheckpointerDeps): Checkpointer {
  return new Checkpointer({
    access: fencedCheckpoints(checkpoints, { idle_thread_id: thread_id }),
    is_attempt: false,
    thread_id,
    run_id: null,
    durability: 'sync',
    writer: ids.uuid4().slice(-8),
  });
}
