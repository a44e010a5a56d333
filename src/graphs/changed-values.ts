import type { ChannelVersions } from '@langchain/langgraph-checkpoint';
import { type BlobRow, nextVersion, type StoredValue } from '../storage/checkpoints/delta-blobs.ts';
import type { Serde } from './serde.ts';
import { storableBytes } from './storable.ts';

export interface ChangedValues {
  readonly rows: readonly BlobRow[];
  /** By channel; undefined for one that was emptied. */
  readonly values: ReadonlyMap<string, StoredValue | undefined>;
}

/**
 * Serialises the channels with a new version, once each; `bases` are values to which lists may be appended. Throws
 * `UnstorableValueError`.
 */
export async function changedValues(
  channelValues: Readonly<Record<string, unknown>>,
  newVersions: ChannelVersions,
  bases: ReadonlyMap<string, StoredValue | undefined>,
  serde: Serde,
): Promise<ChangedValues> {
  const rows: BlobRow[] = [];
  const values = new Map<string, StoredValue | undefined>();
  const changes = Object.entries(newVersions).map(async ([channel, version]) => {
    if (!Object.hasOwn(channelValues, channel)) return void values.set(channel, undefined);
    const [type, bytes] = await storableBytes(serde, channel, channelValues[channel]);
    const next = nextVersion(bases.get(channel), { version: String(version), type, bytes }, channel);
    rows.push(next.row);
    values.set(channel, next.value);
  });
  await Promise.all(changes);
  return { rows, values };
}
