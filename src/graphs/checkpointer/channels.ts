import type { ChannelVersions } from '@langchain/langgraph-checkpoint';
import { type BlobRow, encodeVersion, type StoredValue } from '../../storage/checkpoints/delta-blobs.ts';
import { type Serde, serializeChannel } from './serde.ts';

export interface ChannelDiff {
  readonly rows: readonly BlobRow[];
  /** Values by channel; `undefined` for a channel that was emptied. */
  readonly values: ReadonlyMap<string, StoredValue | undefined>;
}

/**
 * Serialises the channels that have a new version, once each. `bases`: stored values to which a list may be appended as
 * a delta. Throws `UnstorableValueError`.
 */
export async function diffChannels(
  channelValues: Readonly<Record<string, unknown>>,
  newVersions: ChannelVersions,
  bases: ReadonlyMap<string, StoredValue | undefined>,
  serde: Serde,
): Promise<ChannelDiff> {
  const rows: BlobRow[] = [];
  const values = new Map<string, StoredValue | undefined>();
  const changes = Object.entries(newVersions).map(async ([channel, version]) => {
    if (!Object.hasOwn(channelValues, channel)) return void values.set(channel, undefined);
    const [type, bytes] = await serializeChannel(serde, channel, channelValues[channel]);
    const next = encodeVersion(bases.get(channel), { version: String(version), type, bytes }, channel);
    rows.push(next.row);
    values.set(channel, next.value);
  });
  await Promise.all(changes);
  return { rows, values };
}

type Version = string | number | null | undefined;

/**
 * Generates LangGraph's channel versions: a counter that sorts as text, then a unique suffix. Two forks of one thread
 * continue from the same counter, and a value is stored once per version: versions must never collide. `writer` is
 * random per attempt; a sequence number distinguishes the versions of one attempt.
 */
export function versionSource(writer: string): (current: Version) => string {
  let made = 0;
  return (current) => {
    made += 1;
    const counter = countOf(current) + 1;
    return `${String(counter).padStart(COUNTER_DIGITS, '0')}.${writer}${made.toString(36)}`;
  };
}

const COUNTER_DIGITS = 8;

/** The version with the highest counter. */
export function latestVersion(versions: readonly Version[]): Version {
  return versions.reduce(
    (latest, version) => (countOf(version) > countOf(latest) ? version : latest),
    undefined,
  );
}

/** Other checkpointers use plain numbers, or longer texts with a fraction. */
function countOf(version: Version): number {
  return Number.parseInt(String(version ?? 0), 10) || 0;
}
