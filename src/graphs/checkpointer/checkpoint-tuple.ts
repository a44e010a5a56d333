import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { anyToText } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { MAX_ERROR_BYTES, truncateText } from '../../core/text.ts';
import { damageOf, type StoredCheckpoint, type WriteRow } from '../../storage/checkpoints/rows.ts';
import { configOf } from '../checkpoint-config.ts';
import { latestVersion } from './channels.ts';
import { revive, reviveText, type Serde, serializeChannel } from './serde.ts';
import type { SharedLists } from './shared-lists.ts';
import {
  type CheckpointPosition,
  type UnreadableFallback,
  UnreadableValueError,
} from './unreadable-values.ts';

/** LangGraph's channel for the error of a task. */
const ERROR_CHANNEL = '__error__';

/**
 * Bounds the error fields that LangGraph copies into a checkpoint: they may hold any value, and a checkpoint that
 * cannot be written would hide why the run failed. Nothing is redacted: a graph's own error handlers may read them.
 */
function boundedError(error: unknown): unknown {
  if (!isObject(error)) return error;
  return { ...error, message: boundedText(error['message']), name: boundedText(error['name']) };
}

function boundedText(part: unknown): string | undefined {
  return part === undefined ? undefined : truncateText(anyToText(part), MAX_ERROR_BYTES);
}

/** LangGraph's channel for `Send`s. */
const TASKS_CHANNEL = '__pregel_tasks';

/** LangGraph's fixed index of channels that a task writes at most once; other writes count up from 0. */
const WRITE_INDEX: Record<string, number> = {
  [ERROR_CHANNEL]: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

/** Text columns of a checkpoint; its values are stored by channel. */
export function serializeCheckpoint(checkpoint: Checkpoint): { checkpoint: string; versions: string } {
  const { id: _id, channel_values: _values, channel_versions, ...rest } = checkpoint;
  return { checkpoint: JSON.stringify(rest), versions: JSON.stringify(channel_versions) };
}

/** How values are deserialised, and what replaces one that cannot be read. */
export interface ValueReader {
  readonly serde: Serde;
  readonly fallback: UnreadableFallback;
  /** For checkpoints that are read one after the other, newest first. */
  readonly lists?: SharedLists;
  /** Counts the values that are read, as they were before they were stored as deltas. */
  readonly size?: { bytes: number };
}

/** Throws `UnreadableValueError` if the checkpoint itself cannot be read. */
export async function toCheckpointTuple(
  stored: StoredCheckpoint,
  reading: ValueReader,
): Promise<CheckpointTuple> {
  const { thread_id, ns, checkpoint_id, parent_id, damage } = stored;
  if (damage !== undefined) {
    throw new UnreadableValueError(`The checkpoint ${checkpoint_id} cannot be read: ${damage}.`);
  }
  const channel_versions: ChannelVersions = JSON.parse(stored.versions);
  const [channel_values, pendingWrites, metadata] = await Promise.all([
    channelValues(stored, channel_versions, reading),
    pendingWritesOf(stored, reading),
    // Clients write into the metadata: what only resembles a LangChain object is returned unchanged.
    reviveText(reading.serde, stored.metadata).catch(() => JSON.parse(stored.metadata)),
  ]);
  return {
    config: configOf(thread_id, ns, checkpoint_id),
    checkpoint: { ...JSON.parse(stored.checkpoint), id: checkpoint_id, channel_versions, channel_values },
    metadata: metadata as CheckpointMetadata,
    pendingWrites,
    ...(parent_id !== null && { parentConfig: configOf(thread_id, ns, parent_id) }),
  };
}

async function channelValues(
  stored: StoredCheckpoint,
  versions: ChannelVersions,
  reading: ValueReader,
): Promise<Record<string, unknown>> {
  // Writes without a task are applied to the values by reducers, which may change the messages of a list.
  const lists = stored.writes.some(({ task_id }) => task_id === NO_TASK) ? undefined : reading.lists;
  const entries = Object.entries(versions).map(async ([channel, version]) => {
    const value = stored.value(channel, String(version));
    if (reading.size) reading.size.bytes += value?.bytes.length ?? 0;
    const shared = value && lists?.find(stored.ns, channel, value);
    if (shared) return [channel, shared];
    const read = value && (await readOrFallback(stored, channel, value, reading));
    if (read) lists?.add(stored.ns, channel, value, read.value);
    return read && [channel, read.value];
  });
  return Object.fromEntries((await Promise.all(entries)).filter((entry) => entry !== undefined));
}

type ReadValue = Parameters<typeof damageOf>[0];

/** Returns `undefined` if the value cannot be read and has no substitute. */
async function readOrFallback(
  at: CheckpointPosition,
  channel: string,
  stored: ReadValue,
  { serde, fallback }: ValueReader,
): Promise<{ readonly value: unknown } | undefined> {
  const read = await readValue(stored, serde);
  if ('value' in read) return read;
  const value = fallback(at, channel, read.reason);
  return value === undefined ? undefined : { value };
}

/** The value, or the reason why it cannot be read. */
export async function readValue(
  stored: ReadValue,
  serde: Serde,
): Promise<{ readonly value: unknown } | { readonly reason: string }> {
  try {
    if (stored.damage === undefined) return { value: await revive(serde, stored.type, stored.bytes) };
  } catch {
    // The reason is determined below.
  }
  return { reason: damageOf(stored) ?? 'the LangGraph version of the graph does not support it' };
}

/** LangGraph's task id of writes without a task, such as an input. */
export const NO_TASK = '00000000-0000-0000-0000-000000000000';

/**
 * Pending writes at a checkpoint. A task with an unreadable write is not done: it executes again, as after a crash,
 * because its other writes alone would be half a step.
 */
async function pendingWritesOf(
  stored: StoredCheckpoint,
  reading: ValueReader,
): Promise<CheckpointPendingWrite[]> {
  const lost = new Set<string>();
  const writes = stored.writes.map(async ({ task_id, channel, type, value: bytes, damage }) => {
    const write = { type, bytes, damage };
    const read =
      task_id === NO_TASK
        ? await readOrFallback(stored, channel, write, reading)
        : await readValue(write, reading.serde);
    if (read && 'value' in read) return [task_id, channel, read.value] satisfies CheckpointPendingWrite;
    if (task_id !== NO_TASK) lost.add(task_id);
    return undefined;
  });
  const read = (await Promise.all(writes)).filter((write) => write !== undefined);
  return read.filter(([task_id]) => !lost.has(task_id));
}

/** Before version 4 of LangGraph's checkpoint format, pending `Send`s were stored with the parent's writes. */
export async function withPendingSends(
  tuple: CheckpointTuple,
  at: CheckpointPosition,
  parentWrites: readonly WriteRow[],
  reading: ValueReader,
  nextVersion: (current: undefined) => string,
): Promise<CheckpointTuple> {
  const { checkpoint } = tuple;
  const sends = parentWrites.filter((write) => write.channel === TASKS_CHANNEL);
  const read = await Promise.all(
    sends.map(({ type, value: bytes, damage }) => readValue({ type, bytes, damage }, reading.serde)),
  );
  const lost = read.find((each) => 'reason' in each);
  const values = lost
    ? (reading.fallback(at, TASKS_CHANNEL, lost.reason) ?? [])
    : read.map((each) => 'value' in each && each.value);
  const version = latestVersion(Object.values(checkpoint.channel_versions)) ?? nextVersion(undefined);
  return {
    ...tuple,
    checkpoint: {
      ...checkpoint,
      channel_values: { ...checkpoint.channel_values, [TASKS_CHANNEL]: values },
      channel_versions: { ...checkpoint.channel_versions, [TASKS_CHANNEL]: version },
    },
  };
}

/** The last of two writes with the same index wins, as when a node was resumed twice. Throws `UnstorableValueError`. */
export async function serializeWrites(
  writes: readonly PendingWrite[],
  task: Pick<WriteRow, 'task_id' | 'task_path'>,
  serde: Serde,
): Promise<WriteRow[]> {
  const rows = writes.map(async ([channel, value], position): Promise<[number, WriteRow]> => {
    const idx = WRITE_INDEX[channel] ?? position;
    const storable = channel === ERROR_CHANNEL ? boundedError(value) : value;
    const [type, bytes] = await serializeChannel(serde, channel, storable);
    return [idx, { ...task, idx, channel, type, value: bytes }];
  });
  return [...new Map(await Promise.all(rows)).values()];
}
