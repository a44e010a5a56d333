import type { EventFilter } from './filter.ts';
import type { ProtocolEvent } from './protocol-events.ts';

interface Entry<Owner> {
  readonly owner: Owner;
  readonly channels: ReadonlySet<string>;
  /** Levels below this place; `undefined`: all. */
  readonly depth: number | undefined;
}

/** A place in the tree of namespaces, by segment. */
interface Place<Owner> {
  readonly entries: Entry<Owner>[];
  readonly below: Map<string, Place<Owner>>;
}

/**
 * The filters of a connection, merged into a tree of their namespaces: an event is compared with those on its own path,
 * however many others there are. A segment without a task id matches every task of that node.
 */
export class FilterIndex<Owner> {
  readonly #root: Place<Owner> = newPlace();

  add({ channels, namespaces, depth }: EventFilter, owner: Owner): void {
    if (!namespaces) this.#root.entries.push({ owner, channels, depth: undefined });
    for (const namespace of namespaces ?? []) {
      let place = this.#root;
      for (const segment of namespace) {
        const next = place.below.get(segment) ?? newPlace();
        place.below.set(segment, next);
        place = next;
      }
      place.entries.push({ owner, channels, depth });
    }
  }

  /** The owners of the filters that match. */
  matching({ channel, namespace }: ProtocolEvent): Set<Owner> {
    const found = new Set<Owner>();
    const isCustom = channel.startsWith('custom:');
    let places = [this.#root];
    for (let level = 0; places.length > 0; level++) {
      for (const { entries } of places) {
        for (const { owner, channels, depth } of entries) {
          const isDeeper = depth !== undefined && namespace.length - level > depth;
          if (!isDeeper && (channels.has(channel) || (isCustom && channels.has('custom')))) found.add(owner);
        }
      }
      places = nextPlaces(places, namespace[level]);
    }
    return found;
  }
}

function newPlace<Owner>(): Place<Owner> {
  return { entries: [], below: new Map() };
}

function nextPlaces<Owner>(places: readonly Place<Owner>[], segment: string | undefined): Place<Owner>[] {
  if (segment === undefined) return [];
  const node = segment.split(':', 1)[0] as string;
  const names = node === segment ? [segment] : [segment, node];
  return places.flatMap(({ below }) => names.flatMap((name) => below.get(name) ?? []));
}
