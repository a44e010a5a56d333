import type { RunnableConfig } from '@langchain/core/runnables';
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
  DeltaChannelHistory,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { Conflict } from '../core/errors.ts';
import { yieldTurn } from '../core/event-loop.ts';
import type { Ids } from '../core/ids.ts';
import { storable } from '../core/json.ts';
import type { Durability } from '../db/db.ts';
import type { RunKwargs } from '../schemas/runs.ts';
import type { CheckpointRepository } from '../storage/checkpoints/checkpoints.ts';
import type { Fence } from '../storage/checkpoints/put.ts';
import type { StoredCheckpoint } from '../storage/checkpoints/rows.ts';
import type { Lease } from '../storage/runs/lease.ts';
import type { AttemptWrites } from '../storage/runs/write-buffer.ts';
import { changedValues } from './changed-values.ts';
import { versionSource } from './channel-version.ts';
import { addressOf, configOf } from './checkpoint-address.ts';
import { checkpointMetadata } from './checkpoint-metadata.ts';
import { checkpointTexts, type Reading, tupleOf, withSends, writeRows } from './checkpoint-tuple.ts';
import { deltaHistory } from './delta-history.ts';
import { RecentCheckpoints } from './recent-checkpoints.ts';
import { dumpText, OWN_SERDE, type Serde } from './serde.ts';
import { UnstorableValueError } from './storable.ts';
import { type Substitute, standIn, UnreadableNotes, UnreadableValueError } from './unreadable.ts';
import { isUpdate, UntriedUpdates } from './untried-updates.ts';

interface RunMemory {
  readonly checkpoints: CheckpointRepository;
  readonly writes: AttemptWrites;
  readonly lease: Lease;
  readonly durability: RunKwargs['durability'];
}

/**
 * The memory of one attempt of a run: it writes under the attempt's lease, or throws `LeaseLost` and writes nothing.
 * With durability `sync` each checkpoint is on disk before the next step; else it is committed a moment later, with
 * what comes after it, and on disk with the end of the run.
 */
export function runCheckpointer({ checkpoints, writes, lease, durability }: RunMemory): Checkpointer {
  return new Checkpointer(checkpoints, {
    fence: { attempt: writes },
    thread_id: lease.thread_id,
    run_id: lease.run_id,
    durability: durability === 'sync' ? 'promised' : 'relaxed',
    writer: lease.token.slice(-8),
  });
}

interface ThreadMemory {
  readonly checkpoints: CheckpointRepository;
  readonly thread_id: string;
  readonly ids: Ids;
}

/**
 * The memory of a thread outside of runs, for one request: to read its state and to change it. A change throws
 * `Conflict` while a run of the thread is pending or running.
 */
export function threadCheckpointer({ checkpoints, thread_id, ids }: ThreadMemory): Checkpointer {
  return new Checkpointer(checkpoints, {
    fence: { idle_thread_id: thread_id },
    thread_id,
    run_id: null,
    durability: 'promised',
    writer: ids.uuid4().slice(-8),
  });
}

interface Writer {
  readonly fence: Fence;
  readonly thread_id: string;
  readonly run_id: string | null;
  readonly durability: Durability;
  /** Random: marks the versions that this writer makes. */
  readonly writer: string;
}

interface View {
  readonly recent: RecentCheckpoints;
  readonly substitute: Substitute;
}

const inRuns: Substitute = (_at, channel, reason) => standIn(channel, reason);

/**
 * LangGraph's `BaseCheckpointSaver` by shape: a graph of any copy of the library takes it, and the server starts where
 * none is installed.
 */
export class Checkpointer {
  /** LangGraph's own name for it. Who runs a graph puts the serialiser of the graph's own library here. */
  serde: Serde = OWN_SERDE;
  /** Independent of `this`: LangGraph binds it to other objects. */
  readonly getNextVersion: (current: string | undefined) => string;
  readonly #checkpoints: CheckpointRepository;
  readonly #writer: Writer;
  readonly #recent: RecentCheckpoints;
  readonly #substitute: Substitute;
  readonly #refused = new AbortController();
  /** The checkpoint at which something could not be stored; what belongs to later ones is not stored either. */
  #refusedAt: string | undefined;
  readonly #untried = new UntriedUpdates();

  constructor(
    checkpoints: CheckpointRepository,
    writer: Writer,
    { recent = new RecentCheckpoints(), substitute = inRuns }: Partial<View> = {},
  ) {
    this.#checkpoints = checkpoints;
    this.#writer = writer;
    this.#recent = recent;
    this.#substitute = substitute;
    this.getNextVersion = versionSource(writer.writer);
  }

  /**
   * Aborted with an `UnstorableValueError` when the run made something that cannot be stored. What comes after it is not
   * stored either: a later checkpoint would go on from one that is not there. Who executes the run must stop it.
   */
  get refused(): AbortSignal {
    return this.#refused.signal;
  }

  /** The same memory for reading states: what cannot be read is left out, and noted. */
  forStates(): { readonly checkpointer: Checkpointer; readonly unreadable: UnreadableNotes } {
    const unreadable = new UnreadableNotes();
    const view = { recent: this.#recent, substitute: unreadable.add };
    const checkpointer = new Checkpointer(this.#checkpoints, this.#writer, view);
    checkpointer.serde = this.serde;
    return { checkpointer, unreadable };
  }

  /** Configurations that hold it are written to logs and traces. */
  toJSON(): string {
    return '[Checkpointer]';
  }

  async get(config: RunnableConfig): Promise<Checkpoint | undefined> {
    return (await this.getTuple(config))?.checkpoint;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, ns = '', checkpoint_id } = addressOf(config);
    if (thread_id === undefined) return undefined;
    await yieldTurn();
    const known = 'attempt' in this.#writer.fence && this.#recent.find(thread_id, ns, checkpoint_id);
    if (known) return this.#tuple(known);
    await this.#committed();
    const [stored] = await this.#checkpoints.find({ thread_id, ns, checkpoint_id, limit: 1 });
    if (!stored) return undefined;
    const isOwn = thread_id === this.#writer.thread_id;
    return this.#tuple(isOwn ? this.#recent.read(stored, checkpoint_id === undefined) : stored);
  }

  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { before, filter, limit } = options;
    await this.#committed();
    const found = await this.#checkpoints.find({
      ...addressOf(config),
      before_id: before && addressOf(before).checkpoint_id,
      metadata: filter,
      limit,
    });
    // One by one: a state may be large, and together they are stored in little more than the newest.
    for (const stored of found) {
      const tuple = await this.#tuple(stored).catch(unlessUnreadable);
      if (tuple) yield tuple;
    }
  }

  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { thread_id, ns = '', checkpoint_id: parent_id = null } = addressOf(config);
    if (thread_id === undefined) throw new Error('A checkpoint needs a thread_id in "configurable".');
    const isOwn = thread_id === this.#writer.thread_id;
    const applied = this.#untried.appliedBefore(checkpoint.id);
    await this.#unlessRefused(checkpoint.id, async () => {
      const bases = isOwn ? this.#recent.values(thread_id, ns) : new Map();
      // Values first and without waiting: nodes that already run may change them in place.
      const [{ rows, values }, text] = await Promise.all([
        changedValues(checkpoint.channel_values, newVersions, bases, this.serde),
        dumpText(this.serde, checkpointMetadata(config, metadata)),
        applied,
      ]);
      const at = { thread_id, ns, checkpoint_id: checkpoint.id };
      const texts = { ...checkpointTexts(checkpoint), metadata: storable(text) };
      const row = { ...at, ...texts, parent_id, run_id: this.#writer.run_id, blobs: rows };
      await this.#write((fence, durability) => this.#checkpoints.put(fence, row, durability));
      if (isOwn) this.#recent.wrote(row, values);
    });
    await yieldTurn();
    return configOf(thread_id, ns, checkpoint.id);
  }

  async putWrites(config: RunnableConfig, writes: PendingWrite[], task_id: string): Promise<void> {
    const { thread_id, ns = '', checkpoint_id } = addressOf(config);
    if (thread_id === undefined || checkpoint_id === undefined) {
      throw new Error('Writes need a thread_id and a checkpoint_id in "configurable".');
    }
    const at = { thread_id, ns, checkpoint_id };
    const dumped = writeRows(writes, task_id, this.serde);
    // Kept back, it may meet nobody.
    dumped.catch(() => {});
    const applied = this.#untried.applied();
    const store = () =>
      this.#unlessRefused(checkpoint_id, async () => {
        const [rows] = await Promise.all([dumped, applied]);
        const request = { ...at, task_id, run_id: this.#writer.run_id, writes: rows };
        await this.#write((fence, durability) => this.#checkpoints.putWrites(fence, request, durability));
        if (thread_id === this.#writer.thread_id) this.#recent.wroteWrites(at, rows);
      });
    if (isUpdate(task_id, writes)) this.#untried.keep(checkpoint_id, store);
    else await store();
  }

  async deleteThread(thread_id: string): Promise<void> {
    await this.#write((fence) => this.#checkpoints.removeThread(fence, thread_id));
    this.#recent.clear();
  }

  async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    await this.#committed();
    const { thread_id, ns = '', checkpoint_id } = addressOf(config);
    const named = thread_id !== undefined && checkpoint_id !== undefined;
    const ancestors = (limit: number, from = checkpoint_id as string) =>
      this.#checkpoints.ancestors({
        thread_id: thread_id as string,
        ns,
        checkpoint_id: from,
        channels,
        limit,
      });
    const place = { ns, checkpoint_id: checkpoint_id ?? '' };
    return deltaHistory(named ? ancestors : async () => [], channels, place, this.#reading);
  }

  get #reading(): Reading {
    return { serde: this.serde, substitute: this.#substitute };
  }

  async #tuple(stored: StoredCheckpoint): Promise<CheckpointTuple> {
    const tuple = await tupleOf(stored, this.#reading);
    await yieldTurn();
    const { thread_id, ns, parent_id } = stored;
    if (tuple.checkpoint.v >= 4 || parent_id === null) return tuple;
    const [parent] = await this.#checkpoints.find({ thread_id, ns, checkpoint_id: parent_id, limit: 1 });
    return withSends(tuple, stored, parent?.writes ?? [], this.#reading, this.getNextVersion);
  }

  /**
   * Stores what a graph made. What cannot be stored is thrown at who waits for it, and ends a run by `refused`: a
   * rejection there would meet nobody until the run's end, which Node reports as an error of the process.
   */
  async #unlessRefused(checkpoint_id: string, store: () => Promise<void>): Promise<void> {
    // Earlier ones may still be on their way: LangGraph does not wait for them. Ids are in the order of time.
    if (this.#refusedAt !== undefined && checkpoint_id > this.#refusedAt) return;
    try {
      await store();
    } catch (error) {
      const isRefusal = error instanceof UnstorableValueError || error instanceof UnreadableValueError;
      if (!isRefusal || !('attempt' in this.#writer.fence)) throw error;
      this.#refusedAt ??= checkpoint_id;
      this.#refused.abort(error);
    }
  }

  /** What is read from the database must hold what this attempt wrote before. */
  async #committed(): Promise<void> {
    const { fence } = this.#writer;
    if ('attempt' in fence) await fence.attempt.settle();
  }

  async #write(write: (fence: Fence, durability: Durability) => Promise<boolean>): Promise<void> {
    const { fence, durability, thread_id } = this.#writer;
    if (await write(fence, durability)) return;
    throw new Conflict(`Thread ${thread_id} has runs that are pending or running.`);
  }
}

/** One checkpoint that cannot be read does not hide the others. */
function unlessUnreadable(error: unknown): undefined {
  if (!(error instanceof UnreadableValueError)) throw error;
}
