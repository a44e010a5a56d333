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
import { revive, type Serde, serializeChannel } from './serde.ts';
import {
  type CheckpointPosition,
  type UnreadableFallback,
  UnreadableValueError,
} from './unreadable-values.ts';

/** LangGraph's name for the channel of what a task threw. */
const ERROR_CHANNEL = '__error__';

/**
 * What LangGraph copies of an error into a checkpoint, as bounded text: the two may be anything, and a checkpoint that
 * cannot be written would hide why the run failed. Nothing else is taken out, for a graph's own handlers may read it.
 */
function boundedError(error: unknown): unknown {
  if (!isObject(error)) return error;
  return { ...error, message: boundedText(error['message']), name: boundedText(error['name']) };
}

function boundedText(part: unknown): string | undefined {
  return part === undefined ? undefined : truncateText(anyToText(part), MAX_ERROR_BYTES);
}

/** LangGraph's name for the channel of `Send`s. */
const TASKS_CHANNEL = '__pregel_tasks';

/** Where LangGraph keeps what a task has one of; writes to other channels count up from 0. */
const WRITE_INDEX: Record<string, number> = {
  [ERROR_CHANNEL]: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

/** What is stored of a checkpoint as text; its values are stored by channel. */
export function serializeCheckpoint(checkpoint: Checkpoint): { checkpoint: string; versions: string } {
  const { id: _id, channel_values: _values, channel_versions, ...rest } = checkpoint;
  return { checkpoint: JSON.stringify(rest), versions: JSON.stringify(channel_versions) };
}

/** How values are read: by which library, and what stands for one that cannot be. */
export interface ValueReader {
  readonly serde: Serde;
  readonly fallback: UnreadableFallback;
}

/** Throws `UnreadableValueError` when not even the checkpoint itself can be read. */
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
    // Clients write into it: what only looks like an object of LangChain stays what it is.
    revive(reading.serde, 'json', Buffer.from(stored.metadata)).catch(() => JSON.parse(stored.metadata)),
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
  const entries = Object.entries(versions).map(async ([channel, version]) => {
    const value = stored.value(channel, String(version));
    const read = value && (await readOrFallback(stored, channel, value, reading));
    return read && [channel, read.value];
  });
  return Object.fromEntries((await Promise.all(entries)).filter((entry) => entry !== undefined));
}

type ReadValue = Parameters<typeof damageOf>[0];

/** Undefined for a value that cannot be read and has no substitute. */
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

/** The value, or why it cannot be read. */
export async function readValue(
  stored: ReadValue,
  serde: Serde,
): Promise<{ readonly value: unknown } | { readonly reason: string }> {
  try {
    if (stored.damage === undefined) return { value: await revive(serde, stored.type, stored.bytes) };
  } catch {
    // What is wrong with it is found out below.
  }
  return { reason: damageOf(stored) ?? 'the library of the graph does not understand it' };
}

/** LangGraph's task for what no task wrote, such as an input. */
const NO_TASK = '00000000-0000-0000-0000-000000000000';

/**
 * What tasks wrote at a checkpoint. A task of which a part cannot be read is not done: it executes again, as after a
 * crash, for its other writes alone would be half a step.
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

/** Before version 4 of LangGraph's format the `Send`s to execute were left with the writes of the parent. */
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

/**
 * Of two writes with the same place the last counts, as when a node was resumed twice. Throws `UnstorableValueError`.
 */
export async function serializeWrites(
  writes: readonly PendingWrite[],
  task_id: string,
  serde: Serde,
): Promise<WriteRow[]> {
  const rows = writes.map(async ([channel, value], position): Promise<[number, WriteRow]> => {
    const idx = WRITE_INDEX[channel] ?? position;
    const storable = channel === ERROR_CHANNEL ? boundedError(value) : value;
    const [type, bytes] = await serializeChannel(serde, channel, storable);
    return [idx, { task_id, idx, channel, type, value: bytes }];
  });
  return [...new Map(await Promise.all(rows)).values()];
}
