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
import { systemClock } from '../../core/clock.ts';
import { ClockBehind, Conflict } from '../../core/errors.ts';
import { yieldToEventLoop } from '../../core/event-loop.ts';
import { storable } from '../../core/json.ts';
import type { StoredCheckpoint } from '../../storage/checkpoints/rows.ts';
import { addressOf, checkpointMetadata, configOf } from '../checkpoint-config.ts';
import { StepRecorder } from '../steps/recorder.ts';
import { diffChannels, versionSource } from './channels.ts';
import type { CheckpointWriter } from './checkpoint-access.ts';
import { CheckpointCache } from './checkpoint-cache.ts';
import {
  serializeCheckpoint,
  serializeWrites,
  toCheckpointTuple,
  type ValueReader,
  withPendingSends,
} from './checkpoint-tuple.ts';
import { requireOrder } from './clock-order.ts';
import { DeferredUpdates, isStateUpdate } from './deferred-updates.ts';
import { deltaChannelHistory } from './delta-history.ts';
import { HistorySize } from './history-size.ts';
import { dumpText, SERVER_SERDE, type Serde, UnstorableValueError } from './serde.ts';
import { SharedLists } from './shared-lists.ts';
import {
  type UnreadableFallback,
  UnreadableReport,
  UnreadableValueError,
  unreadableProxy,
} from './unreadable-values.ts';

interface ReadOptions {
  readonly cache: CheckpointCache;
  readonly fallback: UnreadableFallback;
  /** Listed checkpoints share their messages: readers must not change them. */
  readonly shares: boolean;
}

const failOnUse: UnreadableFallback = (_at, channel, reason) => unreadableProxy(channel, reason);

/** Why a checkpoint of a run cannot be stored, whatever storage does. */
const UNSTORABLE = [UnstorableValueError, UnreadableValueError, ClockBehind];

/**
 * LangGraph's `BaseCheckpointSaver` by shape: a graph of any copy of the library accepts it, and the server starts
 * without the library.
 */
export class Checkpointer {
  /** LangGraph's own name. Before a graph runs, it is set to the serialiser of the graph's own library. */
  serde: Serde = SERVER_SERDE;
  /** Independent of `this`: LangGraph binds it to other objects. */
  readonly getNextVersion: (current: string | undefined) => string;
  /** Who writes, and where: a graph host makes its own checkpointer from it. */
  readonly writer: CheckpointWriter;
  /** Recorder of the attempt, unless nothing is recorded. */
  readonly steps: StepRecorder | undefined;
  readonly #cache: CheckpointCache;
  readonly #fallback: UnreadableFallback;
  readonly #shares: boolean;
  readonly #failure = new AbortController();
  /** The checkpoint that could not be stored; nothing of later ones is stored either. */
  #failedAt: string | undefined;
  readonly #deferred = new DeferredUpdates();
  /** Of the history that is being listed: LangGraph reads the deltas of each state separately. */
  #listed: HistorySize | undefined;

  constructor(
    writer: CheckpointWriter,
    { cache = new CheckpointCache(), fallback = failOnUse, shares = false }: Partial<ReadOptions> = {},
  ) {
    this.writer = writer;
    this.steps =
      writer.record === 'off'
        ? undefined
        : new StepRecorder(writer.record, systemClock, { has_contents: writer.has_contents === true });
    const { steps } = this;
    if (steps) writer.access.observe?.(() => steps.current());
    this.#cache = cache;
    this.#fallback = fallback;
    this.#shares = shares;
    this.getNextVersion = versionSource(writer.writer);
  }

  /**
   * Aborted with an `UnstorableValueError` when the run produced a value that cannot be stored, and with `ClockBehind`
   * when the clock was set back. Nothing after it is stored either: a later checkpoint would continue from a missing
   * one. The executor must stop the run.
   */
  get storeFailure(): AbortSignal {
    return this.#failure.signal;
  }

  /** The same checkpointer for reading states: it omits and reports unreadable values. */
  lenientReader(): { readonly checkpointer: Checkpointer; readonly unreadable: UnreadableReport } {
    const unreadable = new UnreadableReport();
    const view = { cache: this.#cache, fallback: unreadable.add, shares: true };
    // It executes nothing, and so has no steps to record.
    const checkpointer = new Checkpointer({ ...this.writer, record: 'off' }, view);
    checkpointer.serde = this.serde;
    return { checkpointer, unreadable };
  }

  /** Configurations that hold a checkpointer are written to logs and traces. */
  toJSON(): string {
    return '[Checkpointer]';
  }

  async get(config: RunnableConfig): Promise<Checkpoint | undefined> {
    return (await this.getTuple(config))?.checkpoint;
  }

  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const { thread_id, ns = '', checkpoint_id } = addressOf(config);
    if (thread_id === undefined) return undefined;
    await yieldToEventLoop();
    const known = this.writer.is_attempt && this.#cache.find(thread_id, ns, checkpoint_id);
    if (known) return this.#toTuple(known);
    const [stored] = await this.writer.access.find({ thread_id, ns, checkpoint_id, limit: 1 });
    if (!stored) return undefined;
    const isOwn = thread_id === this.writer.thread_id;
    return this.#toTuple(isOwn ? this.#cache.fill(stored, checkpoint_id === undefined) : stored);
  }

  /** For readers of states: throws `InvalidInput` if several of them are too large for one reply. */
  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { before, filter, limit } = options;
    const before_id = before && addressOf(before).checkpoint_id;
    const query = { ...addressOf(config), metadata: filter };
    const size = new HistorySize();
    if (this.#shares) this.#listed = size;
    // One at a time: a state may be large, although deltas store all of them in little more than the newest.
    const reading = { ...this.#valueReader, size, ...(this.#shares && { lists: new SharedLists() }) };
    const find = (from: string | undefined, most: number | undefined) =>
      this.writer.access.find({ ...query, before_id: from, limit: most });
    // Graphs that read their own history get all of it at once.
    const pages =
      this.#shares && limit !== undefined ? size.pages(find, before_id, limit) : [find(before_id, limit)];
    for await (const page of pages) {
      for (const stored of page) {
        const tuple = await this.#toTuple(stored, reading).catch(ignoreUnreadable);
        if (this.#shares) size.add();
        if (tuple) yield tuple;
      }
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
    const isOwn = thread_id === this.writer.thread_id;
    const applied = this.#deferred.flushBefore(checkpoint.id);
    await this.#unlessFailed(checkpoint.id, async () => {
      // Outside of runs, the clock is compared with the newest checkpoint of the thread instead.
      if (this.writer.is_attempt) requireOrder(parent_id, checkpoint.id);
      const bases = isOwn ? this.#cache.values(thread_id, ns) : new Map();
      // Serialise before the first await: nodes that already run may mutate the values in place.
      const [{ rows, values }, text] = await Promise.all([
        diffChannels(checkpoint.channel_values, newVersions, bases, this.serde),
        dumpText(this.serde, checkpointMetadata(config, metadata)),
        applied,
      ]);
      const at = { thread_id, ns, checkpoint_id: checkpoint.id };
      const texts = { ...serializeCheckpoint(checkpoint), metadata: storable(text) };
      const row = { ...at, ...texts, parent_id, run_id: this.writer.run_id, blobs: rows };
      this.#record();
      this.#requireIdle(await this.writer.access.put(row, this.writer.durability));
      if (isOwn) this.#cache.put(row, values);
    });
    await yieldToEventLoop();
    return configOf(thread_id, ns, checkpoint.id);
  }

  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    task_id: string,
    task_path = '',
  ): Promise<void> {
    const { thread_id, ns = '', checkpoint_id } = addressOf(config);
    if (thread_id === undefined || checkpoint_id === undefined) {
      throw new Error('Writes need a thread_id and a checkpoint_id in "configurable".');
    }
    const at = { thread_id, ns, checkpoint_id };
    const task = { task_id, task_path };
    const dumped = serializeWrites(writes, task, this.serde);
    // While deferred, a rejection has no handler.
    dumped.catch(() => {});
    const applied = this.#deferred.flush();
    const store = () =>
      this.#unlessFailed(checkpoint_id, async () => {
        const [rows] = await Promise.all([dumped, applied]);
        const request = { ...at, ...task, run_id: this.writer.run_id, writes: rows };
        this.#record();
        this.#requireIdle(await this.writer.access.putWrites(request, this.writer.durability));
        if (thread_id === this.writer.thread_id) this.#cache.putWrites(at, rows);
      });
    if (isStateUpdate(task_id, writes)) this.#deferred.defer(checkpoint_id, store);
    else await store();
  }

  /** The attempt has ended: steps that still execute are cancelled, and the last ones recorded. */
  endSteps(): void {
    this.steps?.close();
    this.#record();
  }

  /** With what is written next: a step is stored with the checkpoint that holds its result. */
  #record(): void {
    const steps = this.steps?.take() ?? [];
    if (steps.length > 0) this.writer.access.record(steps);
  }

  async deleteThread(thread_id: string): Promise<void> {
    this.#requireIdle(await this.writer.access.deleteThread(thread_id));
    this.#cache.clear();
  }

  async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const { thread_id, ns = '', checkpoint_id } = addressOf(config);
    const named = thread_id !== undefined && checkpoint_id !== undefined;
    const ancestors = (limit: number, from = checkpoint_id as string) =>
      this.writer.access.ancestors({
        thread_id: thread_id as string,
        ns,
        checkpoint_id: from,
        channels,
        limit,
      });
    const place = { ns, checkpoint_id: checkpoint_id ?? '' };
    const size = this.#listed;
    const reading = { ...this.#valueReader, ...(size && { size }) };
    const history = await deltaChannelHistory(named ? ancestors : async () => [], channels, place, reading);
    size?.requireFit();
    return history;
  }

  get #valueReader(): ValueReader {
    return { serde: this.serde, fallback: this.#fallback };
  }

  async #toTuple(stored: StoredCheckpoint, reading = this.#valueReader): Promise<CheckpointTuple> {
    const tuple = await toCheckpointTuple(stored, reading);
    await yieldToEventLoop();
    const { thread_id, ns, parent_id } = stored;
    if (tuple.checkpoint.v >= 4 || parent_id === null) return tuple;
    const [parent] = await this.writer.access.find({ thread_id, ns, checkpoint_id: parent_id, limit: 1 });
    return withPendingSends(tuple, stored, parent?.writes ?? [], reading, this.getNextVersion);
  }

  /**
   * Stores what a graph produced. In a run, what cannot be stored aborts `storeFailure` instead of rejecting: the
   * rejection would stay unhandled until the end of the run, which Node reports as an error of the process.
   */
  async #unlessFailed(checkpoint_id: string, store: () => Promise<void>): Promise<void> {
    // Puts of earlier ones may still be in flight: LangGraph does not await them. Ids sort by time.
    if (this.#failedAt !== undefined && checkpoint_id > this.#failedAt) return;
    try {
      await store();
    } catch (error) {
      const isUnstorable = UNSTORABLE.some((reason) => error instanceof reason);
      if (!isUnstorable || !this.writer.is_attempt) throw error;
      this.#failedAt ??= checkpoint_id;
      this.#failure.abort(error);
    }
  }

  #requireIdle(written: boolean): void {
    if (!written) throw new Conflict(`Thread ${this.writer.thread_id} has runs that are pending or running.`);
  }
}

/** One unreadable checkpoint does not hide the others. */
function ignoreUnreadable(error: unknown): undefined {
  if (!(error instanceof UnreadableValueError)) throw error;
}
