import type { CheckpointConfig } from '../../schemas/thread-state.ts';

/** Key of the placeholder of an unreadable value in a state; it holds the reason. Clients look for this key. */
const UNREADABLE = '__unreadable__';

/** Unreadable channels of one checkpoint, with the reasons. */
export type UnreadableChannels = Readonly<Record<string, string>>;

export interface CheckpointPosition {
  readonly ns: string;
  readonly checkpoint_id: string;
}

/** Replaces the value of an unreadable channel; `undefined` leaves the channel empty. */
export type UnreadableFallback = (at: CheckpointPosition, channel: string, reason: string) => unknown;

/** A graph used an unreadable value of its state. */
export class UnreadableValueError extends Error {
  override readonly name = 'UnreadableValueError';
}

/** Properties that libraries probe on any object to identify it: not a use of the value. */
const PROBES = new Set([
  'then',
  'constructor',
  '_getType',
  'lc_kwargs',
  'lc_serializable',
  'lc_graph_name',
  'lg_name',
  'lg_is_channel',
]);

/** Symbols that use the value itself: in loops, spreads, operators and template literals. */
const VALUE_SYMBOLS: ReadonlySet<string | symbol> = new Set([
  Symbol.iterator,
  Symbol.asyncIterator,
  Symbol.toPrimitive,
  Symbol.isConcatSpreadable,
]);

/**
 * Placeholder of an unreadable channel value while a graph runs: a node that does not need it never notices, one that
 * sets it repairs it, and one that uses it throws `UnreadableValueError`. With an empty channel, a chat would lose its
 * history and store the loss. As JSON it is the marker visible in states; it cannot be stored again.
 */
export function unreadableProxy(channel: string, reason: string): object {
  const error = new UnreadableValueError(
    `The value of channel "${channel}" cannot be read: ${reason}. Set a new value, or resume from an earlier checkpoint.`,
  );
  const refuse = () => {
    throw error;
  };
  return new Proxy(unreadableMarker(reason), {
    get(_target, key) {
      if (key === 'toJSON') return () => unreadableMarker(reason);
      if (typeof key === 'symbol' ? VALUE_SYMBOLS.has(key) : !PROBES.has(key)) throw error;
      return undefined;
    },
    has: (_target, key) => key === 'toJSON',
    ownKeys: refuse,
    set: refuse,
    deleteProperty: refuse,
  });
}

/** Collects the unreadable values of the checkpoints behind a state, which is built without them. */
export class UnreadableReport {
  readonly #byCheckpoint = new Map<string, Record<string, string>>();

  readonly add: UnreadableFallback = ({ ns, checkpoint_id }, channel, reason) => {
    const key = `${ns}\n${checkpoint_id}`;
    this.#byCheckpoint.set(key, { ...this.#byCheckpoint.get(key), [channel]: reason });
  };

  /** Returns `undefined` if everything could be read. */
  of(checkpoint: CheckpointConfig | null): UnreadableChannels | undefined {
    return this.#byCheckpoint.get(`${checkpoint?.checkpoint_ns ?? ''}\n${checkpoint?.checkpoint_id}`);
  }
}

/** LangGraph's internal channels, which are not part of a state's values. */
const INTERNAL = /^(branch:|join:|__(?!root__$))/;

/** The values of a state, with a marker for each unreadable one. */
export function withReasons(values: unknown, unreadable: UnreadableChannels | undefined): unknown {
  const reasons = Object.entries(unreadable ?? {}).filter(([channel]) => !INTERNAL.test(channel));
  if (reasons.length === 0) return values;
  // The state of a graph with a single channel is the value itself.
  const root = reasons.find(([channel]) => channel === '__root__');
  if (root) return unreadableMarker(root[1]);
  return {
    ...(values as object),
    ...Object.fromEntries(reasons.map(([channel, reason]) => [channel, unreadableMarker(reason)])),
  };
}

function unreadableMarker(reason: string): Record<string, string> {
  return { [UNREADABLE]: reason };
}
