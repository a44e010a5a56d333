import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { damageOf, type StoredCheckpoint, type WriteRow } from '../storage/checkpoints/rows.ts';
import { latestVersion } from './channel-version.ts';
import { configOf } from './checkpoint-address.ts';
import { revive, type Serde } from './serde.ts';
import { storableBytes } from './storable.ts';
import { ERROR_CHANNEL, storedError } from './stored-error.ts';
import { type CheckpointPlace, type Substitute, UnreadableValueError } from './unreadable.ts';

/** LangGraph's name for the channel of `Send`s. */
const TASKS = '__pregel_tasks';

/** Where LangGraph keeps what a task has one of; writes to other channels count up from 0. */
const FIXED_INDEX: Record<string, number> = {
  [ERROR_CHANNEL]: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

/** What is stored of a checkpoint as text; its values are stored by channel. */
export function checkpointTexts(checkpoint: Checkpoint): { checkpoint: string; versions: string } {
  const { id: _id, channel_values: _values, channel_versions, ...rest } = checkpoint;
  return { checkpoint: JSON.stringify(rest), versions: JSON.stringify(channel_versions) };
}

/** How values are read: by which library, and what stands for one that cannot be. */
export interface Reading {
  readonly serde: Serde;
  readonly substitute: Substitute;
}

/** Throws `UnreadableValueError` when not even the checkpoint itself can be read. */
export async function tupleOf(stored: StoredCheckpoint, reading: Reading): Promise<CheckpointTuple> {
  const { thread_id, ns, checkpoint_id, parent_id, damage } = stored;
  if (damage !== undefined) {
    throw new UnreadableValueError(`The checkpoint ${checkpoint_id} cannot be read: ${damage}.`);
  }
  const channel_versions: ChannelVersions = JSON.parse(stored.versions);
  const [channel_values, pendingWrites, metadata] = await Promise.all([
    channelValues(stored, channel_versions, reading),
    writesOf(stored, reading),
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
  reading: Reading,
): Promise<Record<string, unknown>> {
  const entries = Object.entries(versions).map(async ([channel, version]) => {
    const value = stored.value(channel, String(version));
    const read = value && (await readOrSubstitute(stored, channel, value, reading));
    return read && [channel, read.value];
  });
  return Object.fromEntries((await Promise.all(entries)).filter((entry) => entry !== undefined));
}

type ReadValue = Parameters<typeof damageOf>[0];

/** Undefined for a value that cannot be read and has no substitute. */
async function readOrSubstitute(
  at: CheckpointPlace,
  channel: string,
  stored: ReadValue,
  { serde, substitute }: Reading,
): Promise<{ readonly value: unknown } | undefined> {
  const read = await readValue(stored, serde);
  if ('value' in read) return read;
  const value = substitute(at, channel, read.reason);
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
async function writesOf(stored: StoredCheckpoint, reading: Reading): Promise<CheckpointPendingWrite[]> {
  const lost = new Set<string>();
  const writes = stored.writes.map(async ({ task_id, channel, type, value: bytes, damage }) => {
    const write = { type, bytes, damage };
    const read =
      task_id === NO_TASK
        ? await readOrSubstitute(stored, channel, write, reading)
        : await readValue(write, reading.serde);
    if (read && 'value' in read) return [task_id, channel, read.value] satisfies CheckpointPendingWrite;
    if (task_id !== NO_TASK) lost.add(task_id);
    return undefined;
  });
  const read = (await Promise.all(writes)).filter((write) => write !== undefined);
  return read.filter(([task_id]) => !lost.has(task_id));
}

/** Before version 4 of LangGraph's format the `Send`s to execute were left with the writes of the parent. */
export async function withSends(
  tuple: CheckpointTuple,
  at: CheckpointPlace,
  parentWrites: readonly WriteRow[],
  reading: Reading,
  nextVersion: (current: undefined) => string,
): Promise<CheckpointTuple> {
  const { checkpoint } = tuple;
  const sends = parentWrites.filter((write) => write.channel === TASKS);
  const read = await Promise.all(
    sends.map(({ type, value: bytes, damage }) => readValue({ type, bytes, damage }, reading.serde)),
  );
  const lost = read.find((each) => 'reason' in each);
  const values = lost
    ? (reading.substitute(at, TASKS, lost.reason) ?? [])
    : read.map((each) => 'value' in each && each.value);
  const version = latestVersion(Object.values(checkpoint.channel_versions)) ?? nextVersion(undefined);
  return {
    ...tuple,
    checkpoint: {
      ...checkpoint,
      channel_values: { ...checkpoint.channel_values, [TASKS]: values },
      channel_versions: { ...checkpoint.channel_versions, [TASKS]: version },
    },
  };
}

/**
 * Of two writes with the same place the last counts, as when a node was resumed twice. Throws `UnstorableValueError`.
 */
export async function writeRows(
  writes: readonly PendingWrite[],
  task_id: string,
  serde: Serde,
): Promise<WriteRow[]> {
  const rows = writes.map(async ([channel, value], position): Promise<[number, WriteRow]> => {
    const idx = FIXED_INDEX[channel] ?? position;
    const storable = channel === ERROR_CHANNEL ? storedError(value) : value;
    const [type, bytes] = await storableBytes(serde, channel, storable);
    return [idx, { task_id, idx, channel, type, value: bytes }];
  });
  return [...new Map(await Promise.all(rows)).values()];
}
