import type { Ids } from '../../core/ids.ts';
import type { RunKwargs } from '../../schemas/runs.ts';
import type { RecordLevel } from '../../schemas/steps.ts';
import type { CheckpointRepository } from '../../storage/checkpoints/checkpoints.ts';
import type { NewCheckpoint } from '../../storage/checkpoints/put.ts';
import type { Lease } from '../../storage/runs/lease.ts';
import type { WriteBuffer } from '../../storage/runs/write-buffer.ts';
import { fencedCheckpoints } from './checkpoint-access.ts';
import { Checkpointer } from './checkpointer.ts';
import { requireClock, requireOrder, waitForClock } from './clock-order.ts';

export interface RunCheckpointerDeps {
  readonly checkpoints: CheckpointRepository;
  readonly writes: WriteBuffer;
  readonly lease: Lease;
  readonly durability: RunKwargs['durability'];
  readonly record: RecordLevel;
  /** As in `CheckpointWriter`. */
  readonly has_contents?: boolean | undefined;
  /** Whether the thread had checkpoints when the attempt began: without any, none are looked for. True by default. */
  readonly has_history?: boolean;
  /** Called after each checkpoint of the run itself, not of a subgraph; `isElsewhere` if a graph host executes it. */
  readonly onCheckpoint?: (checkpoint: NewCheckpoint, isElsewhere: boolean) => Promise<void> | undefined;
  /** If there is one, the next step of the graph begins only once each checkpoint has passed it. */
  readonly gate?: CheckpointGate | undefined;
}

/** Callbacks around each checkpoint of a run. */
export interface CheckpointGate {
  /** The checkpoint is about to be written. */
  before(checkpoint: NewCheckpoint): void;
  /** Resolves when the graph may continue. */
  after(): Promise<void>;
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
  record,
  has_contents,
  has_history = true,
  onCheckpoint = () => undefined,
  gate,
}: RunCheckpointerDeps): Checkpointer {
  const access = fencedCheckpoints(checkpoints, { attempt: writes });
  const mode = durability === 'sync' ? 'sync' : 'async';
  let isElsewhere = false;
  let isThreadEmpty = !has_history;
  return new Checkpointer({
    access: {
      ...access,
      find: async (query) => (isThreadEmpty && query.thread_id === lease.thread_id ? [] : access.find(query)),
      async put(checkpoint) {
        isThreadEmpty = false;
        const isOwn = checkpoint.thread_id === lease.thread_id;
        if (isOwn) gate?.before(checkpoint);
        const isPut = await access.put(checkpoint, mode);
        if (isOwn && checkpoint.ns === '') await onCheckpoint(checkpoint, isElsewhere);
        if (isOwn) await gate?.after();
        return isPut;
      },
      putWrites(request) {
        isThreadEmpty = false;
        return access.putWrites(request, mode);
      },
      executedElsewhere(isBusy) {
        isElsewhere = true;
        access.executedElsewhere?.(isBusy);
      },
    },
    is_attempt: true,
    thread_id: lease.thread_id,
    run_id: lease.run_id,
    // A graph host waits for what is `sync` alone; what is committed when is decided above.
    durability: gate ? 'sync' : mode,
    writer: lease.token.slice(-8),
    record,
    ...(has_contents && { has_contents }),
  });
}

export interface ThreadCheckpointerDeps {
  readonly checkpoints: CheckpointRepository;
  readonly thread_id: string;
  /** The import that writes the history of the thread. */
  readonly import_id?: string | undefined;
  readonly ids: Ids;
}

/**
 * Checkpointer of a thread outside of runs, for one request that reads or updates its state. An update throws
 * `Conflict` while a run of the thread is pending or running, and `ClockBehind`.
 */
export function threadCheckpointer({
  checkpoints,
  thread_id,
  import_id,
  ids,
}: ThreadCheckpointerDeps): Checkpointer {
  const access = fencedCheckpoints(checkpoints, { idle_thread_id: thread_id, import_id });
  let ready: Promise<void> | undefined;
  /** Before the first write, which may be values at the checkpoint from which an update continues. */
  const untilReady = () => {
    ready ??= checkpoints.newestId(thread_id).then(async (newest_id) => {
      await waitForClock(newest_id);
      requireClock(newest_id);
    });
    return ready;
  };
  return new Checkpointer({
    access: {
      ...access,
      async put(checkpoint, durability) {
        await untilReady();
        requireOrder(checkpoint.parent_id, checkpoint.checkpoint_id);
        return access.put(checkpoint, durability);
      },
      putWrites: (request, durability) => untilReady().then(() => access.putWrites(request, durability)),
    },
    is_attempt: false,
    thread_id,
    run_id: null,
    durability: 'sync',
    writer: ids.uuid4().slice(-8),
    record: 'off',
  });
}
