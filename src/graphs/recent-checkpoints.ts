import type { StoredValue } from '../storage/checkpoints/delta-blobs.ts';
import type { NewCheckpoint } from '../storage/checkpoints/put.ts';
import {
  byTask,
  type CheckpointKey,
  type StoredCheckpoint,
  type WriteRow,
} from '../storage/checkpoints/rows.ts';

type Values = ReadonlyMap<string, StoredValue | undefined>;

/** A namespace's checkpoint with all its values, or, in `values`, undefined for a channel that has none. */
interface Current {
  readonly row: Omit<StoredCheckpoint, 'writes' | 'value'>;
  readonly values: Values;
  readonly writes: Map<string, WriteRow>;
  /** Nothing newer is in the namespace. */
  readonly latest: boolean;
}

const NOTHING: Values = new Map();

/** A graph of many parallel subgraphs has a namespace for each; only those in use are worth their memory. */
const NAMESPACES = 32;

/**
 * What one attempt read and wrote last in each namespace, as it is in the database. The attempt's lease makes it the
 * only writer, so what it wrote last is the latest.
 */
export class RecentCheckpoints {
  readonly #current = new Map<string, Current>();
  /** LangGraph does not wait for a checkpoint before it stores what tasks write at it. */
  readonly #early = new Map<string, WriteRow[]>();

  /** The checkpoint of this id, or the latest; undefined when the database must be asked. */
  find(thread_id: string, ns: string, checkpoint_id?: string): StoredCheckpoint | undefined {
    const current = this.#current.get(scopeOf({ thread_id, ns }));
    if (!current) return undefined;
    const { row, values, writes, latest } = current;
    if (checkpoint_id === undefined ? !latest : row.checkpoint_id !== checkpoint_id) return undefined;
    return {
      ...row,
      writes: [...writes.values()].sort(byTask),
      value: (channel) => values.get(channel),
    };
  }

  /** What the next checkpoint of the namespace may be based on. */
  values(thread_id: string, ns: string): Values {
    return this.#current.get(scopeOf({ thread_id, ns }))?.values ?? NOTHING;
  }

  /** Gives the checkpoint back with its values put together once. */
  read({ writes, value, ...row }: StoredCheckpoint, latest: boolean): StoredCheckpoint {
    const values = new Map(
      entriesOf(row.versions).map(([channel, version]) => [channel, value(channel, version)]),
    );
    this.#keep({ row, values, writes: new Map(writes.map((write) => [keyOf(write), write])), latest });
    return { ...row, writes, value: (channel) => values.get(channel) };
  }

  /** `changed` are the values that came with it, undefined for a channel that was emptied. */
  wrote({ blobs: _blobs, run_id: _run_id, ...row }: NewCheckpoint, changed: Values): void {
    const before = this.#current.get(scopeOf(row));
    const versionsBefore = new Map(before && entriesOf(before.row.versions));
    const values = new Map<string, StoredValue | undefined>();
    for (const [channel, version] of entriesOf(row.versions)) {
      if (changed.has(channel)) values.set(channel, changed.get(channel));
      else if (versionsBefore.get(channel) === version) values.set(channel, before?.values.get(channel));
      // Based on a checkpoint that was never read: what it has in this channel is not known.
      else return void this.#current.delete(scopeOf(row));
    }
    const key = placeOf(row);
    this.#keep({ row, values, writes: new Map(), latest: true });
    this.wroteWrites(row, this.#early.get(key) ?? []);
    this.#early.delete(key);
  }

  wroteWrites(at: CheckpointKey, writes: readonly WriteRow[]): void {
    const current = this.#current.get(scopeOf(at));
    if (current?.row.checkpoint_id === at.checkpoint_id) {
      for (const write of writes) {
        const key = keyOf(write);
        if (write.idx < 0 || !current.writes.has(key)) current.writes.set(key, write);
      }
    } else if (!current || current.row.checkpoint_id < at.checkpoint_id) {
      const key = placeOf(at);
      this.#early.set(key, [...(this.#early.get(key) ?? []), ...writes]);
    }
  }

  clear(): void {
    this.#current.clear();
    this.#early.clear();
  }

  #keep(current: Current): void {
    const scope = scopeOf(current.row);
    this.#current.delete(scope);
    this.#current.set(scope, current);
    if (this.#current.size > NAMESPACES) {
      this.#current.delete(this.#current.keys().next().value as string);
    }
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
