import type { CheckpointPendingWrite, DeltaChannelHistory } from '@langchain/langgraph-checkpoint';
import type { StoredCheckpoint } from '../storage/checkpoint-rows.ts';
import { revive, type Serde } from './serde.ts';

/** LangGraph stores a delta channel whole after at most 1000 updates; most are found in the first read. */
const ANCESTORS_AT_ONCE = 200;

/**
 * What LangGraph's `DeltaChannel` is put together from: of each channel the nearest stored value above a checkpoint,
 * and all that was written to it from there on, oldest first. `ancestors` gives the next ones up, nearest first.
 */
export async function deltaHistory(
  ancestors: (limit: number, from?: string) => Promise<StoredCheckpoint[]>,
  channels: readonly string[],
  serde: Serde,
): Promise<Record<string, DeltaChannelHistory>> {
  const histories = new Map(channels.map((channel) => [channel, { writes: [] } as DeltaChannelHistory]));
  const open = new Set(channels);
  let from: string | undefined;
  while (open.size > 0) {
    const path = await ancestors(ANCESTORS_AT_ONCE, from);
    for (const ancestor of path) {
      for (const channel of open) {
        const history = histories.get(channel) as DeltaChannelHistory;
        if (await lookAt(ancestor, channel, history, serde)) open.delete(channel);
      }
    }
    if (path.length < ANCESTORS_AT_ONCE) break;
    from = path.at(-1)?.checkpoint_id;
  }
  for (const history of histories.values()) history.writes.reverse();
  return Object.fromEntries(histories);
}

/** Collects from one ancestor, newest write first; true when the channel's value is stored there. */
async function lookAt(
  ancestor: StoredCheckpoint,
  channel: string,
  history: DeltaChannelHistory,
  serde: Serde,
): Promise<boolean> {
  for (const write of ancestor.writes.toReversed()) {
    if (write.channel !== channel) continue;
    const value = await revive(serde, write.type, write.value);
    history.writes.push([write.task_id, channel, value] satisfies CheckpointPendingWrite);
  }
  const version = JSON.parse(ancestor.versions)[channel];
  const stored = version === undefined ? undefined : ancestor.value(channel, String(version));
  if (stored) history.seed = await revive(serde, stored.type, stored.bytes);
  return stored !== undefined;
}
