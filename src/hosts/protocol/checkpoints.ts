import type { z } from 'zod';
import { closedList, extendsList, type StoredValue } from '../../storage/checkpoints/delta-blobs.ts';
import type { StoredCheckpoint } from '../../storage/checkpoints/rows.ts';
import { FrameError } from './frames.ts';
import type { ServerMethods } from './messages.ts';

type CheckpointPage = z.infer<ServerMethods['checkpoint/find']['result']>;
type WireCheckpoint = CheckpointPage['checkpoints'][number];
type WireValue = WireCheckpoint['values'][number];

/** Size at which a page of checkpoints ends, bytes. A single checkpoint may exceed it. */
const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * The first of these checkpoints that fit into one message. What they share is sent once, as it is stored once: ten
 * states of a long conversation would be ten times its size.
 */
export function checkpointPage(
  found: readonly StoredCheckpoint[],
  channels?: readonly string[],
): CheckpointPage {
  const checkpoints: WireCheckpoint[] = [];
  const sent = new SentValues();
  let bytes = 0;
  for (const stored of found) {
    if (bytes > PAGE_BYTES) break;
    const checkpoint = toWireCheckpoint(stored, channels, sent);
    bytes += sizeOf(checkpoint);
    checkpoints.push(checkpoint);
  }
  return { checkpoints, has_more: checkpoints.length < found.length };
}

/** The values that a page has so far, by channel: the last one of each. */
class SentValues {
  readonly #last = new Map<string, StoredValue>();

  /** What the page contains of the next value of a channel. */
  add(channel: string, value: StoredValue): WireValue {
    const last = this.#last.get(channel);
    this.#last.set(channel, value);
    const { bytes, ...rest } = value;
    if (last?.version === value.version) return { channel, ...rest };
    const begins = last?.type === 'json' && value.type === 'json' && extendsList(bytes, last.bytes);
    return { channel, ...rest, ...(begins ? { begins: bytes.length - 1 } : { bytes }) };
  }
}

function toWireCheckpoint(
  stored: StoredCheckpoint,
  channels: readonly string[] | undefined,
  sent: SentValues,
): WireCheckpoint {
  const { thread_id, ns, checkpoint_id, parent_id, checkpoint, versions, metadata, damage, writes } = stored;
  const values = Object.entries<unknown>(JSON.parse(versions)).flatMap(([channel, version]) => {
    if (channels && !channels.includes(channel)) return [];
    const value = stored.value(channel, String(version));
    return value ? [sent.add(channel, value)] : [];
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
    (sum, { bytes }) => sum + (bytes?.length ?? 0),
    checkpoint.length + metadata.length + inWrites,
  );
}

/** The checkpoints of a page as storage returns them. Throws `FrameError` if the page lacks a value. */
export function fromPage({ checkpoints }: CheckpointPage): StoredCheckpoint[] {
  const last = new Map<string, StoredValue>();
  return checkpoints.map(({ values, ...checkpoint }) => {
    const byKey = new Map<string, StoredValue>();
    for (const wire of values) {
      const value = fromWireValue(wire, last.get(wire.channel));
      last.set(wire.channel, value);
      byKey.set(keyOf(wire.channel, wire.version), value);
    }
    return { ...checkpoint, value: (channel, version) => byKey.get(keyOf(channel, version)) };
  });
}

function fromWireValue(
  { channel, bytes, begins, ...value }: WireValue,
  last: StoredValue | undefined,
): StoredValue {
  if (bytes) return { ...value, bytes };
  if (!last) throw new FrameError(`A page of checkpoints lacks the value of ${channel}.`);
  return begins === undefined ? last : { ...value, bytes: closedList(last.bytes.subarray(0, begins)) };
}

function keyOf(channel: string, version: string): string {
  return `${channel}\n${version}`;
}
