import type { CheckpointPendingWrite, DeltaChannelHistory } from '@langchain/langgraph-checkpoint';
import type { StoredCheckpoint } from '../../storage/checkpoints/rows.ts';
import { readValue, type ValueReader } from './checkpoint-tuple.ts';
import type { CheckpointPosition } from './unreadable-values.ts';

/** LangGraph stores a delta channel whole after at most 1000 updates; most are found in the first page. */
const ANCESTOR_PAGE = 200;

/**
 * The parts of LangGraph's `DeltaChannel`: per channel the nearest stored value among a checkpoint's ancestors, and all
 * later writes, oldest first. `ancestors` returns the next page upwards, nearest first. If any part of a channel is
 * unreadable, the whole channel is, at `place`: the rest would be a different conversation.
 */
export async function deltaChannelHistory(
  ancestors: (limit: number, from?: string) => Promise<StoredCheckpoint[]>,
  channels: readonly string[],
  place: CheckpointPosition,
  reading: ValueReader,
): Promise<Record<string, DeltaChannelHistory>> {
  const histories = new Map(channels.map((channel) => [channel, { writes: [] } as DeltaChannelHistory]));
  const open = new Set(channels);
  let from: string | undefined;
  while (open.size > 0) {
    const path = await ancestors(ANCESTOR_PAGE, from);
    for (const ancestor of path) {
      for (const channel of open) {
        const history = histories.get(channel) as DeltaChannelHistory;
        const found = await collectFrom(ancestor, channel, history, reading);
        if (found.reason !== undefined) {
          histories.set(channel, { writes: [], seed: reading.fallback(place, channel, found.reason) });
        }
        if (found.done) open.delete(channel);
      }
    }
    if (path.length < ANCESTOR_PAGE) break;
    from = path.at(-1)?.checkpoint_id;
  }
  for (const history of histories.values()) history.writes.reverse();
  return Object.fromEntries(histories);
}

/** Collects from one ancestor, newest write first; `done` if the channel's value is stored there, or unreadable. */
async function collectFrom(
  ancestor: StoredCheckpoint,
  channel: string,
  history: DeltaChannelHistory,
  { serde, size }: ValueReader,
): Promise<{ readonly done: boolean; readonly reason?: string }> {
  for (const { task_id, channel: written, type, value, damage } of ancestor.writes.toReversed()) {
    if (written !== channel) continue;
    if (size) size.bytes += value.length;
    const read = await readValue({ type, bytes: value, damage }, serde);
    if ('reason' in read) return { done: true, reason: read.reason };
    history.writes.push([task_id, channel, read.value] satisfies CheckpointPendingWrite);
  }
  const version = JSON.parse(ancestor.versions)[channel];
  const stored = version === undefined ? undefined : ancestor.value(channel, String(version));
  if (!stored) return { done: false };
  if (size) size.bytes += stored.bytes.length;
  const seed = await readValue(stored, serde);
  if ('reason' in seed) return { done: true, reason: seed.reason };
  history.seed = seed.value;
  return { done: true };
}
