import type { ChannelVersions } from '@langchain/langgraph-checkpoint';
import { type BlobRow, encodeVersion, type StoredValue } from '../../storage/checkpoints/delta-blobs.ts';
import { type Serde, serializeChannel } from './serde.ts';

export interface ChannelDiff {
  readonly rows: readonly BlobRow[];
  /** By channel; undefined for one that was emptied. */
  readonly values: ReadonlyMap<string, StoredValue | undefined>;
}

/**
 * Serialises the channels with a new version, once each; `bases` are values to which lists may be appended. Throws
 * `UnstorableValueError`.
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
 * Makes LangGraph's channel versions: a counter that sorts as text, then what makes it unique. Two forks of one thread
 * count on from the same number, and a value is stored once for its version: they must never meet.
 * `writer` is random for each attempt; versions of one attempt differ by their own number.
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

/** The version that was made last. */
export function latestVersion(versions: readonly Version[]): Version {
  return versions.reduce(
    (latest, version) => (countOf(version) > countOf(latest) ? version : latest),
    undefined,
  );
}

/** Savers of other makers count in plain numbers, or in longer texts with a fraction behind. */
function countOf(version: Version): number {
  return Number.parseInt(String(version ?? 0), 10) || 0;
}
