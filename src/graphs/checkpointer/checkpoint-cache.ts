import type { StoredValue } from '../../storage/checkpoints/delta-blobs.ts';
import type { NewCheckpoint } from '../../storage/checkpoints/put.ts';
import {
  type CheckpointKey,
  compareWrites,
  type StoredCheckpoint,
  type WriteRow,
} from '../../storage/checkpoints/rows.ts';

type Values = ReadonlyMap<string, StoredValue | undefined>;

/** A namespace's checkpoint with all its values; `undefined` in `values` is a channel without one. */
interface CacheEntry {
  readonly row: Omit<StoredCheckpoint, 'writes' | 'value'>;
  readonly values: Values;
  readonly writes: Map<string, WriteRow>;
  /** The namespace has no newer checkpoint. */
  readonly latest: boolean;
}

const NO_VALUES: Values = new Map();

/** A graph with many parallel subgraphs has a namespace for each; only those in use are worth their memory. */
const MAX_NAMESPACES = 32;

/**
 * Last checkpoint that one attempt read or wrote in each namespace, as stored in the database. The attempt's lease
 * makes it the only writer, so that what it wrote last is the latest.
 */
export class CheckpointCache {
  /** Least recently stored first. A plain map: every attempt makes one, and most have one entry. */
  readonly #entries = new Map<string, CacheEntry>();
  /** Writes at checkpoints that are not put yet: LangGraph does not await `put` before `putWrites`. */
  readonly #earlyWrites = new Map<string, WriteRow[]>();

  /** The checkpoint with this id, or the latest; `undefined` on a cache miss. */
  find(thread_id: string, ns: string, checkpoint_id?: string): StoredCheckpoint | undefined {
    const current = this.#entries.get(scopeOf({ thread_id, ns }));
    if (!current) return undefined;
    const { row, values, writes, latest } = current;
    if (checkpoint_id === undefined ? !latest : row.checkpoint_id !== checkpoint_id) return undefined;
    return {
      ...row,
      writes: [...writes.values()].sort(compareWrites),
      value: (channel) => values.get(channel),
    };
  }

  /** Values on which the next checkpoint of the namespace may be based. */
  values(thread_id: string, ns: string): Values {
    return this.#entries.get(scopeOf({ thread_id, ns }))?.values ?? NO_VALUES;
  }

  /** Caches a checkpoint, and returns it with its values assembled once. */
  fill({ writes, value, ...row }: StoredCheckpoint, latest: boolean): StoredCheckpoint {
    const values = new Map(
      entriesOf(row.versions).map(([channel, version]) => [channel, value(channel, version)]),
    );
    this.#store({ row, values, writes: new Map(writes.map((write) => [keyOf(write), write])), latest });
    return { ...row, writes, value: (channel) => values.get(channel) };
  }

  /** `changed`: the values stored with it, `undefined` for a channel that was emptied. */
  put({ blobs: _blobs, run_id: _run_id, ...row }: NewCheckpoint, changed: Values): void {
    const before = this.#entries.get(scopeOf(row));
    const versionsBefore = new Map(before && entriesOf(before.row.versions));
    const values = new Map<string, StoredValue | undefined>();
    for (const [channel, version] of entriesOf(row.versions)) {
      if (changed.has(channel)) values.set(channel, changed.get(channel));
      else if (versionsBefore.get(channel) === version) values.set(channel, before?.values.get(channel));
      // Based on a checkpoint that is not cached: its value of this channel is unknown.
      else return void this.#entries.delete(scopeOf(row));
    }
    const key = placeOf(row);
    this.#store({ row, values, writes: new Map(), latest: true });
    this.putWrites(row, this.#earlyWrites.get(key) ?? []);
    this.#earlyWrites.delete(key);
  }

  putWrites(at: CheckpointKey, writes: readonly WriteRow[]): void {
    const current = this.#entries.get(scopeOf(at));
    if (current?.row.checkpoint_id === at.checkpoint_id) {
      for (const write of writes) {
        const key = keyOf(write);
        if (write.idx < 0 || !current.writes.has(key)) current.writes.set(key, write);
      }
    } else if (!current || current.row.checkpoint_id < at.checkpoint_id) {
      const key = placeOf(at);
      this.#earlyWrites.set(key, [...(this.#earlyWrites.get(key) ?? []), ...writes]);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#earlyWrites.clear();
  }

  #store(current: CacheEntry): void {
    const scope = scopeOf(current.row);
    this.#entries.delete(scope);
    this.#entries.set(scope, current);
    if (this.#entries.size <= MAX_NAMESPACES) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}

function scopeOf({ thread_id, ns }: Omit<CheckpointKey, 'checkpoint_id'>): string {
  return `${thread_id}\n${ns}`;
}

function placeOf(key: CheckpointKey): string {
  return `${scopeOf(key)}\n${key.checkpoint_id}`;
}

function keyOf(write: WriteRow): string {
  return `${write.task_id}\n${write.idx}`;
}

function entriesOf(versions: string): [channel: string, version: string][] {
  return Object.entries(JSON.parse(versions)).map(([channel, version]) => [channel, String(version)]);
}
