import type { z } from 'zod';
import type { StoredValue } from '../../storage/checkpoints/delta-blobs.ts';
import type { StoredCheckpoint } from '../../storage/checkpoints/rows.ts';
import type { ServerMethods } from './messages.ts';

type CheckpointPage = z.infer<ServerMethods['checkpoint/find']['result']>;
type WireCheckpoint = CheckpointPage['checkpoints'][number];

/** Size at which a page of checkpoints ends, bytes. A single checkpoint may exceed it. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * The first of these checkpoints that fit into one message. Histories share their values in storage, not on the wire:
 * ten states of a long conversation would be ten times its size.
 */
export function checkpointPage(
  found: readonly StoredCheckpoint[],
  channels?: readonly string[],
): CheckpointPage {
  const checkpoints: WireCheckpoint[] = [];
  let bytes = 0;
  for (const stored of found) {
    if (bytes > PAGE_BYTES) break;
    const checkpoint = toWireCheckpoint(stored, channels);
    bytes += sizeOf(checkpoint);
    checkpoints.push(checkpoint);
  }
  return { checkpoints, has_more: checkpoints.length < found.length };
}

function toWireCheckpoint(stored: StoredCheckpoint, channels: readonly string[] | undefined): WireCheckpoint {
  const { thread_id, ns, checkpoint_id, parent_id, checkpoint, versions, metadata, damage, writes } = stored;
  const values = Object.entries<unknown>(JSON.parse(versions)).flatMap(([channel, version]) => {
    if (channels && !channels.includes(channel)) return [];
    const value = stored.value(channel, String(version));
    return value ? [{ channel, ...value }] : [];
  });
  return {
    thread_id,
    ns,
    checkpoint_id,
    parent_id,
    checkpoint,
    versions,
    metadata,
    damage,
    writes: [...writes],
    values,
  };
}

function sizeOf({ checkpoint, metadata, writes, values }: WireCheckpoint): number {
  const inWrites = writes.reduce((sum, { value }) => sum + value.length, 0);
  return values.reduce(
    (sum, { bytes }) => sum + bytes.length,
    checkpoint.length + metadata.length + inWrites,
  );
}

/** The checkpoint as storage returns it. */
export function fromWireCheckpoint({ values, ...checkpoint }: WireCheckpoint): StoredCheckpoint {
  const byKey = new Map<string, StoredValue>(
    values.map(({ channel, ...value }) => [keyOf(channel, value.version), value]),
  );
  return { ...checkpoint, value: (channel, version) => byKey.get(keyOf(channel, version)) };
}

function keyOf(channel: string, version: string): string {
  return `${channel}\n${version}`;
}
