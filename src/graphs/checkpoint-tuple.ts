import type {
  ChannelVersions,
  Checkpoint,
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
  PendingWrite,
} from '@langchain/langgraph-checkpoint';
import type { StoredCheckpoint } from '../storage/checkpoint-rows.ts';
import type { WriteRow } from '../storage/checkpoint-writes.ts';
import { latestVersion } from './channel-version.ts';
import { configOf } from './checkpoint-address.ts';
import { revive, type Serde } from './serde.ts';

/** LangGraph's name for the channel of `Send`s. */
const TASKS = '__pregel_tasks';

/** Where LangGraph keeps what a task has one of; writes to other channels count up from 0. */
const FIXED_INDEX: Record<string, number> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

/** What is stored of a checkpoint as text; its values are stored by channel. */
export function checkpointTexts(checkpoint: Checkpoint): { checkpoint: string; versions: string } {
  const { id: _id, channel_values: _values, channel_versions, ...rest } = checkpoint;
  return { checkpoint: JSON.stringify(rest), versions: JSON.stringify(channel_versions) };
}

export async function tupleOf(stored: StoredCheckpoint, serde: Serde): Promise<CheckpointTuple> {
  const { thread_id, ns, checkpoint_id, parent_id } = stored;
  const channel_versions: ChannelVersions = JSON.parse(stored.versions);
  const [channel_values, pendingWrites, metadata] = await Promise.all([
    channelValues(stored, channel_versions, serde),
    Promise.all(stored.writes.map((write) => pendingWrite(write, serde))),
    revive(serde, 'json', Buffer.from(stored.metadata)),
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
  serde: Serde,
): Promise<Record<string, unknown>> {
  const entries = Object.entries(versions).map(async ([channel, version]) => {
    const value = stored.value(channel, String(version));
    return value && [channel, await revive(serde, value.type, value.bytes)];
  });
  return Object.fromEntries((await Promise.all(entries)).filter((entry) => entry !== undefined));
}

async function pendingWrite(row: WriteRow, serde: Serde): Promise<CheckpointPendingWrite> {
  return [row.task_id, row.channel, await revive(serde, row.type, row.value)];
}

/** Before version 4 of LangGraph's format the `Send`s to execute were left with the writes of the parent. */
export async function withSends(
  tuple: CheckpointTuple,
  parentWrites: readonly WriteRow[],
  serde: Serde,
  nextVersion: (current: undefined) => string,
): Promise<CheckpointTuple> {
  const { checkpoint } = tuple;
  const sends = parentWrites.filter((write) => write.channel === TASKS);
  const values = await Promise.all(sends.map((send) => revive(serde, send.type, send.value)));
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

/** Of two writes with the same place the last counts, as when a node was resumed twice. */
export async function writeRows(
  writes: readonly PendingWrite[],
  task_id: string,
  serde: Serde,
): Promise<WriteRow[]> {
  const rows = writes.map(async ([channel, value], position): Promise<[number, WriteRow]> => {
    const idx = FIXED_INDEX[channel] ?? position;
    const [type, bytes] = await serde.dumpsTyped(value);
    return [idx, { task_id, idx, channel, type, value: bytes }];
  });
  return [...new Map(await Promise.all(rows)).values()];
}
