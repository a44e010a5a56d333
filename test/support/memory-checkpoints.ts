import type { Params, Result, ServerMethods } from '../../src/hosts/protocol/messages.ts';

type Put = Params<ServerMethods, 'checkpoint/put'>['checkpoint'];
type Blob = Put['blobs'][number];
type Write = Page['checkpoints'][number]['writes'][number];
type Page = Result<ServerMethods, 'checkpoint/find'>;
/** Each is sent whole. */
type Value = Page['checkpoints'][number]['values'][number] & { readonly bytes: Uint8Array };

/** Checkpoints of a server that keeps them in memory, written from the description of the protocol alone. */
export class MemoryCheckpoints {
  readonly #checkpoints: Put[] = [];
  readonly #writes = new Map<string, Write[]>();
  /** By thread, namespace, channel and version. */
  readonly #values = new Map<string, Value>();

  put(checkpoint: Put): void {
    const { thread_id, ns } = checkpoint;
    for (const blob of checkpoint.blobs) {
      this.#values.set(keyOf(thread_id, ns, blob.channel, blob.version), this.#whole(checkpoint, blob));
    }
    this.#checkpoints.push(checkpoint);
  }

  /** A delta is the new elements of a list of JSON, with commas between them. */
  #whole({ thread_id, ns }: Put, { channel, version, base_version, type, value, appends }: Blob): Value {
    const keyframe = { version, bytes: value.length };
    if (base_version === null) return { channel, version, type, bytes: value, appends, keyframe };
    const base = this.#values.get(keyOf(thread_id, ns, channel, base_version));
    if (!base) throw new Error(`There is no version ${base_version} of ${channel}.`);
    const elements = base.bytes.subarray(0, -1);
    const comma = elements.length > 1 && value.length > 0 ? ',' : '';
    const bytes = Buffer.concat([elements, Buffer.from(comma), value, Buffer.from(']')]);
    return { channel, version, type, bytes, appends, keyframe: base.keyframe };
  }

  putWrites(request: Params<ServerMethods, 'checkpoint/put_writes'>): void {
    const { thread_id, ns, checkpoint_id, task_id, task_path, writes } = request;
    const key = keyOf(thread_id, ns, checkpoint_id);
    const others = (this.#writes.get(key) ?? []).filter(
      (known) => known.task_id !== task_id || !writes.some(({ idx }) => idx === known.idx),
    );
    this.#writes.set(key, [...others, ...writes.map((write) => ({ ...write, task_id, task_path }))]);
  }

  find({ limit, ...query }: Omit<Params<ServerMethods, 'checkpoint/find'>, 'session'>): Page {
    const found = this.#checkpoints
      .filter(
        ({ thread_id, ns, checkpoint_id }) =>
          (query.thread_id ?? thread_id) === thread_id &&
          (query.ns ?? ns) === ns &&
          (query.checkpoint_id ?? checkpoint_id) === checkpoint_id &&
          (query.before_id === undefined || checkpoint_id < query.before_id),
      )
      .sort((a, b) => (a.checkpoint_id < b.checkpoint_id ? 1 : -1))
      .slice(0, limit);
    return { checkpoints: found.map((each) => this.#stored(each)), has_more: false };
  }

  #stored({ thread_id, ns, checkpoint_id, parent_id, checkpoint, versions, metadata }: Put) {
    const values = Object.entries<string>(JSON.parse(versions)).flatMap(([channel, version]) => {
      const value = this.#values.get(keyOf(thread_id, ns, channel, version));
      return value ? [value] : [];
    });
    const writes = (this.#writes.get(keyOf(thread_id, ns, checkpoint_id)) ?? []).toSorted(byPlace);
    return { thread_id, ns, checkpoint_id, parent_id, checkpoint, versions, metadata, writes, values };
  }
}

function byPlace(one: Write, other: Write): number {
  const place = ({ task_path, task_id }: Write) => Buffer.from(`${task_path}\0${task_id}`);
  return Buffer.compare(place(one), place(other)) || one.idx - other.idx;
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
